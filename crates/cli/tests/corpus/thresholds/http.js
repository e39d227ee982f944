// Thresholds on built-in metrics and their submetrics.
import http from 'k6/http';
import { group } from 'k6';
export const options = {
  iterations: 2,
  thresholds: {
    http_reqs: ['count==6'],
    'http_reqs{status:404}': ['count==2'],
    'http_reqs{method:POST}': ['count==2'],
    'http_reqs{name:named}': ['count==2'],
    'http_reqs{group:::posts}': ['count==2'],
    'http_reqs{scenario:default}': ['count==6'],
    'http_reqs{expected_response:false}': ['count==2'],
    http_req_failed: ['rate<0.34'],
    'http_req_failed{name:named}': ['rate==0'],
    'http_req_duration{status:200}': ['p(95)<5000'],
    group_duration: ['max<5000'],
    iteration_duration: ['p(99)<5000'],
    checks: ['rate>=0'],
  },
};
export default function () {
  http.get(`${__ENV.BASE}/get`, { tags: { name: 'named' } });
  http.get(`${__ENV.BASE}/status/404`);
  group('posts', () => http.post(`${__ENV.BASE}/post`, 'x'));
}
