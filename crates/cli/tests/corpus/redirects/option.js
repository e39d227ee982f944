// args: --max-redirects 1
// The limit as an option.
import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/redirect/3`);
  console.log(r.status, r.url);
  console.log(http.get(`${__ENV.BASE}/redirect/3`, { redirects: 4 }).status);
}
