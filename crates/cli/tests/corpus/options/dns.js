// How names become addresses.
import http from 'k6/http';
export const options = { dns: { ttl: '1m', select: 'first', policy: 'onlyIPv4' } };
export default function () {
  const r = http.get(`http://localhost:${__ENV.PORT}/get`);
  console.log(r.status, r.remote_ip);
}
