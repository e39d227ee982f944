// Bytes that are no text.
import http from 'k6/http';
export default function () {
  const r = http.put(`${__ENV.BASE}/put`, { f: http.file(new Uint8Array([0, 255, 13, 10, 45, 45]).buffer, 'x.bin', 'application/octet-stream') });
  console.log(r.status, r.request.body.includes('x.bin'));
}
