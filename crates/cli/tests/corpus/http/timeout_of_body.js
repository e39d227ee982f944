// The time limit covers the body.
import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/drip?duration=3&numbytes=10`, { timeout: '400ms' });
  console.log(r.status, r.error_code, r.error);
}
