// How many are followed.
import http from 'k6/http';
export default function () {
  for (const redirects of [0, 1, 2, 5]) {
    const r = http.get(`${__ENV.BASE}/redirect/3`, { redirects });
    console.log(redirects, r.status, r.url, r.headers.Location, r.error_code);
  }
  console.log(http.get(`${__ENV.BASE}/redirect/12`).status);
}
