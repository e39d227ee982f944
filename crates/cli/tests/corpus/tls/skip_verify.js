// differs console: AES with 256 bits is preferred
// args: --insecure-skip-tls-verify
// A certificate of nobody's, and HTTP/2.
import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.HTTPS}/get`);
  console.log(r.status, r.proto, r.tls_version, r.tls_cipher_suite, r.ocsp.status);
  console.log(http.post(`${__ENV.HTTPS}/post`, 'over tls').json('data'));
}
