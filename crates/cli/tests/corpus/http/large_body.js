// A megabyte each way.
import http from 'k6/http';
export default function () {
  const r = http.post(`${__ENV.BASE}/post`, 'x'.repeat(1000000));
  console.log(r.status, r.json('data').length);
  console.log(http.get(`${__ENV.BASE}/bytes/1000000`, { responseType: 'binary' }).body.byteLength);
}
