// One connection for all iterations of a user.
import http from 'k6/http';
export const options = { iterations: 3 };
export default function () {
  http.get(`${__ENV.BASE}/get`);
  http.get(`${__ENV.BASE}/bytes/100000`);
  http.get(`${__ENV.BASE}/status/500`);
}
