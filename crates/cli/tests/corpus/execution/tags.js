// Tags of a user's own.
import exec from 'k6/execution';
import http from 'k6/http';
import { check } from 'k6';
export const options = { iterations: 2, thresholds: { 'http_reqs{mine:yes}': ['count==3'] } };
export default function () {
  http.get(`${__ENV.BASE}/get`);
  exec.vu.metrics.tags.mine = 'yes';
  exec.vu.metrics.tags['number'] = 5;
  http.get(`${__ENV.BASE}/get`);
  console.log(exec.vu.metrics.tags.mine, exec.vu.metrics.tags.number, exec.vu.metrics.tags.scenario, exec.vu.tags.mine, JSON.stringify(Object.keys(exec.vu.metrics.tags).sort()));
  if (__ITER === 1) delete exec.vu.metrics.tags.mine;
  console.log(exec.vu.metrics.tags.mine);
}
