// What says gzip and is not.
import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/encoding/broken`);
  console.log(r.status, r.error_code);
}
