// A name that nobody has.
import http from 'k6/http';
export default function () {
  const r = http.get('http://does-not-exist.invalid/');
  console.log(r.error_code, r.status);
}
