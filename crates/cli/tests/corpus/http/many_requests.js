// order: any
// Many requests in a row by several users.
import http from 'k6/http';
import { check } from 'k6';
import exec from 'k6/execution';
export const options = { vus: 4, iterations: 100 };
export default function () {
  const r = http.get(`${__ENV.BASE}/anything/${exec.scenario.iterationInTest % 3}`);
  check(r, { 'status is 200': (one) => one.status === 200, 'has a method': (one) => one.json('method') === 'GET' });
}
