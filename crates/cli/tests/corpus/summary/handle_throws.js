// differs console: what failed, and what is shown instead, is one line
// An exception in it changes nothing else.
export default function () {}
export function handleSummary() { throw new Error('in handleSummary'); }
