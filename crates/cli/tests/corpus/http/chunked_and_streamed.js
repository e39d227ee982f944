// Bodies without a length.
import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/stream/5`);
  console.log(r.body.trim().split('\n').length, r.headers['Content-Length'], r.headers['Transfer-Encoding']);
  console.log(http.get(`${__ENV.BASE}/stream-bytes/5000`, { responseType: 'binary' }).body.byteLength);
  console.log(http.get(`${__ENV.BASE}/drip?duration=0.1&numbytes=5&code=202`).status);
}
