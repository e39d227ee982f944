// exit: 108
// Also after an abort.
import exec from 'k6/execution';
export default function () { exec.test.abort('no more'); }
export function handleSummary(data) { return { 'counts.json': JSON.stringify(data.metrics.iterations.values.count) }; }
