// args: --discard-response-bodies
// Bodies are dropped unless a request asks for its own.
import http from 'k6/http';
export default function () {
  console.log(http.get(`${__ENV.BASE}/get`).body);
  console.log(http.get(`${__ENV.BASE}/robots.txt`, { responseType: 'text' }).body.length);
  console.log(http.get(`${__ENV.BASE}/bytes/3`, { responseType: 'binary' }).body.byteLength);
}
