// differs tags: names and URLs in tags are without user and password
// User and password in the URL.
import http from 'k6/http';
export default function () {
  const at = (who, path) => `http://${who}@${__ENV.HOST}${path}`;
  console.log(http.get(at('user:pass', '/basic-auth/user/pass')).status, http.get(at('user:wrong', '/basic-auth/user/pass')).status);
  console.log(http.get(at('us%40er:p%2Fw', '/basic-auth/us@er/p%2Fw'), { auth: 'basic' }).status);
  const r = http.get(at('user:pass', '/headers'));
  console.log(r.json('headers.Authorization'), r.url, r.request.url);
  console.log(http.get(`${__ENV.BASE}/basic-auth/user/pass`, { headers: { Authorization: 'Basic dXNlcjpwYXNz' } }).status);
}
