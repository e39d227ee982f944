// Who signed it is unknown.
import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.HTTPS}/get`);
  console.log(r.status, r.error_code);
}
