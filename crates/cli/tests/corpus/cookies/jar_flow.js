// Cookies that are set come back, and are gone in the next iteration.
import http from 'k6/http';
export const options = { iterations: 2 };
export default function () {
  console.log('start', JSON.stringify(http.get(`${__ENV.BASE}/cookies`).json('cookies')));
  const set = http.get(`${__ENV.BASE}/cookies/set-only?a=1&b=two`);
  console.log(JSON.stringify(Object.keys(set.cookies).sort()), set.cookies.a[0].value, set.cookies.a[0].path, set.cookies.a[0].domain, set.cookies.a[0].http_only, set.cookies.a[0].secure, set.cookies.a[0].max_age);
  console.log(JSON.stringify(http.get(`${__ENV.BASE}/cookies`).json('cookies')));
  console.log(JSON.stringify(http.get(`${__ENV.BASE}/cookies/set?c=3`).json('cookies')));
  console.log(JSON.stringify(http.get(`${__ENV.BASE}/cookies/delete?a=`).json('cookies')));
}
