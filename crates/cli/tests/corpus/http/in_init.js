// exit: 107
// Not in the init context.
import http from 'k6/http';
http.get(`${__ENV.BASE}/get`);
export default function () {}
