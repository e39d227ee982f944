// differs console: fields are on the prototype until they are looked at
// What a response has.
import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/response-headers?X-One=1&x-two=b&X-One=2`);
  console.log(r.status, r.status_text, r.url, r.proto, r.remote_ip, r.remote_port);
  console.log(r.headers['X-One'], r.headers['X-Two'], r.headers['x-two'], r.headers['Content-Type']);
  console.log(r.body, typeof r.body, r.error, JSON.stringify(r.error), r.error_code, r.tls_version, r.tls_cipher_suite);
  console.log(Object.keys(r.timings).sort().join(), r.timings.duration >= 0, r.timings.looking_up);
  console.log(r.ocsp.status, JSON.stringify(r.cookies), typeof r.json, typeof r.html, typeof r.submitForm, typeof r.clickLink);
  const q = r.request;
  console.log(q.method, q.url, q.body, JSON.stringify(q.cookies), JSON.stringify(q.headers));
  console.log(Object.keys(r).sort().join());
}
