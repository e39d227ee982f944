// What cookies say about themselves.
import http from 'k6/http';
export default function () {
  const lines = ['a=1; Path=/; HttpOnly', 'b=2; Path=/cookies/below', 'c=3; Secure; Path=/', 'd=4; Max-Age=100; Path=/', 'e="quoted"; Path=/', 'f=; Path=/', 'g=7; Domain=other.example; Path=/', 'h=8; Expires=Wed, 01 Jan 2070 00:00:00 GMT; Path=/', 'i=9; Max-Age=0; Path=/', 'j=a b; Path=/'];
  const r = http.get(`${__ENV.BASE}/cookies/set-raw?${lines.map((line) => `line=${encodeURIComponent(line)}`).join('&')}`);
  for (const name of Object.keys(r.cookies).sort()) {
    const c = r.cookies[name][0];
    console.log(name, JSON.stringify(c.value), c.path, c.domain, c.http_only, c.secure, c.max_age, c.expires);
  }
  console.log(JSON.stringify(http.get(`${__ENV.BASE}/cookies`).json('cookies')));
  console.log(JSON.stringify(http.get(`${__ENV.BASE}/cookies/below/show`).json('cookies')));
}
