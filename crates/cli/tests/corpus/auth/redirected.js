// differs tags: names and URLs in tags are without user and password
// Credentials of the URL and a redirect.
import http from 'k6/http';
export default function () {
  const r = http.get(`http://user:pass@${__ENV.HOST}/redirect-to?url=/headers`);
  console.log(r.status, r.json('headers.Authorization'));
}
