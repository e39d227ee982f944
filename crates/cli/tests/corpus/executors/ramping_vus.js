// order: any
// Users come and go.
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';
const users = new Counter('users_seen');
let first = true;
export const options = { scenarios: { s: { executor: 'ramping-vus', startVUs: 1, stages: [{ duration: '0s', target: 3 }, { duration: '1s', target: 3 }, { duration: '0s', target: 0 }], gracefulRampDown: '0s' } } };
export default function () {
  if (first) users.add(1);
  first = false;
  sleep(0.45);
}
