// exit: 99
// Only some tags.
import http from 'k6/http';
export const options = { systemTags: ['status', 'method', 'iter', 'vu'], thresholds: { 'http_reqs{status:200}': ['count==1'], 'http_reqs{name:x}': ['count==0'] } };
export default function () { http.get(`${__ENV.BASE}/get`, { tags: { name: 'x' } }); }
