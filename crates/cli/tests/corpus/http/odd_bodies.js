// differs console: wrong bodies throw
// Bodies that cannot be sent.
import http from 'k6/http';
export default function () {
  for (const body of [5, true, new Uint16Array([1, 2])]) {
    const r = http.post(`${__ENV.BASE}/post`, body);
    console.log(typeof body, r.status, r.body, r.error_code);
  }
}
