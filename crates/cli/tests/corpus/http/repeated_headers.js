// Header values of answers.
import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/response-headers?x-a=1&X-A=2&ETag=%22e%22&x-lower-case=ok`);
  console.log(r.headers['X-A'], r.headers.Etag, r.headers['X-Lower-Case'], r.headers['Content-Length']);
}
