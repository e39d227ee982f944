// A delay longer than the run: nothing is aborted, but the threshold counts in the end.
// exit: 99
import { Counter } from 'k6/metrics';
const counter = new Counter('errors');
export const options = {
  iterations: 3,
  thresholds: { errors: [{ threshold: 'count<1', abortOnFail: true, delayAbortEval: '10s' }] },
};
export default function () { counter.add(1); console.log(__ITER); }
