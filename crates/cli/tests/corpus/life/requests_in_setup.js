// What setup and teardown do counts.
import http from 'k6/http';
import { check, group } from 'k6';
import { Counter } from 'k6/metrics';
const counter = new Counter('counted');
export const options = { thresholds: { 'http_reqs{group:::setup}': ['count==1'], 'counted{group:::teardown}': ['count==5'] } };
export function setup() {
  const r = http.get(`${__ENV.BASE}/get?from=setup`);
  check(r, { 'setup is fine': (one) => one.status === 200 });
  group('inside', () => counter.add(1));
  return r.json('args');
}
export default function (data) { console.log(data.from); http.get(`${__ENV.BASE}/get`); }
export function teardown() { http.del(`${__ENV.BASE}/delete`); counter.add(5); }
