// stdout: same
// An empty object: nothing is shown.
export default function () {}
export function handleSummary() { return {}; }
