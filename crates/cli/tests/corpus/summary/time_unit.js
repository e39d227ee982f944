// args: --summary-time-unit ms
// The unit is only for people.
export const options = { iterations: 2 };
export default function () {}
export function handleSummary(data) { return { 'unit.json': JSON.stringify(data.options.summaryTimeUnit) }; }
