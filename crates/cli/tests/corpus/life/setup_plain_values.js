// And plain values.
export function setup() { return 'a text'; }
export default function (data) { console.log(typeof data, data); }
