// Timeouts in all notations.
import http from 'k6/http';
export default function () {
  for (const timeout of [100, '100ms', '0.1s']) {
    const r = http.get(`${__ENV.BASE}/delay/2`, { timeout });
    console.log(r.status, r.error, r.error_code, r.body, r.url, JSON.stringify(r.headers), JSON.stringify(r.status_text), JSON.stringify(r.proto));
  }
  console.log(http.get(`${__ENV.BASE}/delay/0.01`, { timeout: '5s' }).status);
}
