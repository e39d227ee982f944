// Answers without a body.
import http from 'k6/http';
export default function () {
  for (const r of [http.head(`${__ENV.BASE}/get`), http.get(`${__ENV.BASE}/empty`), http.get(`${__ENV.BASE}/status/204`), http.get(`${__ENV.BASE}/etag/x`, { headers: { 'If-None-Match': '"x"' } })]) {
    console.log(r.status, JSON.stringify(r.body), r.error_code);
  }
}
