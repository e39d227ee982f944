// environment: K6_DURATION=1s K6_VUS=1 K6_USER_AGENT=by-environment K6_MAX_REDIRECTS=0 K6_TAGS=a:b
// Several variables at once.
import http from 'k6/http';
import { sleep } from 'k6';
export const options = { thresholds: { 'http_reqs{a:b}': ['count>0'] } };
export default function () {
  const r = http.get(`${__ENV.BASE}/redirect/3`);
  console.log(__ITER, r.status, http.get(`${__ENV.BASE}/user-agent`).json('user-agent'));
  sleep(0.7);
}
