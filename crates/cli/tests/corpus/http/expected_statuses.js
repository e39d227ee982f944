// What counts as failed is the script's to say.
import http from 'k6/http';
export const options = { thresholds: { http_req_failed: ['rate==0.5'] } };
export default function () {
  const only404 = http.expectedStatuses(404);
  http.get(`${__ENV.BASE}/status/404`, { responseCallback: only404 });
  http.get(`${__ENV.BASE}/get`, { responseCallback: only404 });
  const range = http.expectedStatuses({ min: 200, max: 299 }, 418, { min: 500, max: 502 });
  for (const code of [204, 418, 501]) http.get(`${__ENV.BASE}/status/${code}`, { responseCallback: range });
  for (const code of [404, 503, 400]) http.get(`${__ENV.BASE}/status/${code}`, { responseCallback: range });
  http.get(`${__ENV.BASE}/status/500`, { responseCallback: null });
}
