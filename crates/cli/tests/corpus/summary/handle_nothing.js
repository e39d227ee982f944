// Nothing given back: the usual summary is shown.
export default function () {}
export function handleSummary() { console.log('called'); }
