// differs console: dates are written as JSON writes them, with milliseconds
// differs setup: dates are written as JSON writes them, with milliseconds
// A date in setup's data.
export function setup() { return { date: new Date(0) }; }
export default function (data) { console.log(typeof data.date, data.date); }
