// Tags of requests.
import http from 'k6/http';
export const options = { thresholds: { 'http_reqs{name:item}': ['count==2'], 'http_reqs{kind:5}': ['count==1'], 'http_reqs{flag:true}': ['count==1'] } };
export default function () {
  http.get(`${__ENV.BASE}/anything/a`, { tags: { name: 'item', kind: 5 } });
  http.get(`${__ENV.BASE}/anything/b`, { tags: { name: 'item', flag: true } });
}
