// exit: 99
// A broken threshold ends the run; teardown still runs.
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';
const counter = new Counter('errors');
export const options = {
  scenarios: { s: { executor: 'constant-vus', vus: 1, duration: '20s', gracefulStop: '0s' } },
  thresholds: { errors: [{ threshold: 'count<1', abortOnFail: true }] },
};
export default function () { counter.add(1); sleep(0.8); }
export function teardown() { console.log('teardown'); }
