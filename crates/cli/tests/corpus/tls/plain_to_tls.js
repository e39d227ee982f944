// TLS where none is spoken.
import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE.replace('http:', 'https:')}/get`);
  console.log(r.status, r.error_code);
}
