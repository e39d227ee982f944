// exit: 108
// The abort came first.
import exec from 'k6/execution';
import { Counter } from 'k6/metrics';
const counter = new Counter('errors');
export const options = { thresholds: { errors: ['count<1'] } };
export default function () { counter.add(1); exec.test.abort(); }
