// A jar of one's own.
import http from 'k6/http';
export default function () {
  const jar = new http.CookieJar();
  jar.set(__ENV.BASE, 'mine', '1');
  console.log(JSON.stringify(http.get(`${__ENV.BASE}/cookies`, { jar }).json('cookies')));
  console.log(JSON.stringify(http.get(`${__ENV.BASE}/cookies`).json('cookies')));
  http.get(`${__ENV.BASE}/cookies/set-only?kept=yes`, { jar });
  console.log(Object.keys(jar.cookiesForURL(__ENV.BASE)).sort().join());
  console.log(Object.keys(http.cookieJar().cookiesForURL(__ENV.BASE)).join());
}
