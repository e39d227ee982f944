// A Cookie header of one's own.
import http from 'k6/http';
export default function () {
  http.cookieJar().set(__ENV.BASE, 'jar', '1');
  const r = http.get(`${__ENV.BASE}/cookies`, { headers: { Cookie: 'own=2' } });
  console.log(JSON.stringify(r.json('cookies')));
}
