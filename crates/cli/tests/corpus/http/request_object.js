// What a response says of its request.
import http from 'k6/http';
export default function () {
  const r = http.post(`${__ENV.BASE}/post?x=1`, { a: 1 }, { headers: { 'X-Own': 'v' }, cookies: { c: '1' } });
  const { method, url, body, cookies } = r.request;
  console.log(method, url, body, JSON.stringify(cookies), JSON.stringify(Object.keys(r.request.headers).sort()), JSON.stringify(r.request.headers['X-Own']));
}
