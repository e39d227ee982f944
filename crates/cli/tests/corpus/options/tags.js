// args: --tag team=blue --tag n=5
import http from 'k6/http';
export const options = { tags: { team: 'red', lost: 'yes' }, thresholds: { 'http_reqs{team:blue}': ['count==1'], 'http_reqs{n:5}': ['count==1'], 'http_reqs{lost:yes}': ['count==0'] } };
export default function () { http.get(`${__ENV.BASE}/get`); }
