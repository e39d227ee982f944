// Statuses, errors and what failed.
import http from 'k6/http';
export default function () {
  for (const code of [200, 201, 204, 301, 304, 400, 401, 404, 418, 429, 500, 503]) {
    const r = http.get(`${__ENV.BASE}/status/${code}`, { redirects: 0 });
    console.log(r.status, r.status_text, r.error_code, JSON.stringify(r.error), JSON.stringify(r.body));
  }
}
