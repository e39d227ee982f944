// exit: 99
// And what broke is known.
import { Counter } from 'k6/metrics';
const counter = new Counter('errors');
export const options = { thresholds: { errors: ['count<1', 'count>0'] } };
export default function () { counter.add(1); }
export function handleSummary(data) { return { 'thresholds.json': JSON.stringify(data.metrics.errors.thresholds) }; }
