// args: --http-debug
// Requests are shown; they are made all the same.
import http from 'k6/http';
export default function () { http.get(`${__ENV.BASE}/get`); }
