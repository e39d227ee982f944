// To another host name: credentials stay.
import http from 'k6/http';
export default function () {
  const away = __ENV.BASE.replace('127.0.0.1', 'localhost');
  const r = http.get(`${__ENV.BASE}/redirect-to?url=${encodeURIComponent(`${away}/headers`)}`, { headers: { Authorization: 'Bearer secret', 'X-Own': 'kept' } });
  console.log(r.status, r.url, r.json('headers.Authorization'), r.json('headers.X-Own'), r.json('headers.Referer'));
}
