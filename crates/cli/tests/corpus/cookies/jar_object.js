// The user's jar as an object.
import http from 'k6/http';
export default function () {
  const jar = http.cookieJar();
  jar.set(__ENV.BASE, 'plain', 'v');
  jar.set(__ENV.BASE, 'below', 'w', { path: '/cookies/below' });
  jar.set(__ENV.BASE, 'secure', 'x', { secure: true });
  jar.set(__ENV.BASE, 'old', 'y', { expires: 'Mon, 02 Jan 2006 15:04:05 MST' });
  jar.set(__ENV.BASE, 'short', 'z', { max_age: 100, http_only: true });
  const show = (path) => {
    const all = jar.cookiesForURL(`${__ENV.BASE}${path}`);
    return JSON.stringify(Object.keys(all).sort().map((name) => [name, all[name]]));
  };
  console.log(show('/cookies'));
  console.log(show('/cookies/below/show'));
  console.log(JSON.stringify(http.get(`${__ENV.BASE}/cookies`).json('cookies')));
  jar.delete(__ENV.BASE, 'plain');
  console.log(show('/cookies'));
  jar.clear(__ENV.BASE);
  console.log(show('/cookies'));
}
