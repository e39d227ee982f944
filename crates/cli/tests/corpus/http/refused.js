// Nobody listens.
import http from 'k6/http';
export default function () {
  const r = http.get('http://127.0.0.1:1/path?x=1');
  console.log(r.status, r.error, r.error_code, r.body, r.url, r.request.method, JSON.stringify(r.headers), JSON.stringify(r.cookies));
  console.log(r.timings.duration, r.remote_ip, r.remote_port, r.tls_version);
}
