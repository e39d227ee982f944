// order: any
// Tags of scenarios reach every sample.
import http from 'k6/http';
import { check } from 'k6';
export const options = {
  scenarios: { a: { executor: 'shared-iterations', tags: { side: 'left' } }, b: { executor: 'shared-iterations', tags: { side: 'right' } } },
  thresholds: { 'checks{side:left}': ['rate==1'], 'http_reqs{side:right}': ['count==1'], 'iterations{side:left}': ['count==1'], 'data_sent{side:left}': ['count>0'] },
};
export default function () { check(http.get(`${__ENV.BASE}/get`), { fine: (r) => r.status === 200 }); }
