// args: --no-thresholds
// Turned off.
import { Counter } from 'k6/metrics';
const counter = new Counter('errors');
export const options = { thresholds: { errors: ['count<1'], 'errors{a:b}': ['count<1'] } };
export default function () { counter.add(1); }
