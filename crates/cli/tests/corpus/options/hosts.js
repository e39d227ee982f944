// Names that lead elsewhere.
import http from 'k6/http';
export const options = { hosts: { 'shop.example': '127.0.0.1', '*.wild.example': '127.0.0.1', 'port.example:80': `127.0.0.1:${__ENV.PORT}` } };
export default function () {
  console.log(http.get(`http://shop.example:${__ENV.PORT}/headers`).json('headers.Host'));
  console.log(http.get(`http://a.wild.example:${__ENV.PORT}/headers`).json('headers.Host'));
  const r = http.get('http://port.example/headers');
  console.log(r.json('headers.Host'), r.remote_ip, r.remote_port);
}
