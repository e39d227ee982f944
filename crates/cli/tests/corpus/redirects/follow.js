// Hops are requests of their own.
import http from 'k6/http';
export default function () {
  for (const path of ['/redirect/1', '/redirect/3', '/absolute-redirect/2', '/relative-redirect/2']) {
    const r = http.get(`${__ENV.BASE}${path}`);
    console.log(path, r.status, r.url, r.request.url, r.error_code);
  }
}
