// Cookies of one request.
import http from 'k6/http';
export default function () {
  const get = (params) => JSON.stringify(http.get(`${__ENV.BASE}/cookies`, params).json('cookies'));
  console.log(get({ cookies: { a: 'one', b: 'two' } }));
  console.log(get());
  const jar = http.cookieJar();
  jar.set(__ENV.BASE, 'a', 'from the jar');
  console.log(get({ cookies: { a: { value: 'replaced', replace: true } } }));
  console.log(get({ cookies: { c: 'more' } }));
  const r = http.get(`${__ENV.BASE}/cookies`, { cookies: { x: '1' } });
  console.log(JSON.stringify(r.request.cookies));
}
