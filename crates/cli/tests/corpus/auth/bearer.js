// A token.
import http from 'k6/http';
export default function () {
  console.log(http.get(`${__ENV.BASE}/bearer`, { headers: { Authorization: 'Bearer abc' } }).json('token'));
  console.log(http.get(`${__ENV.BASE}/bearer`).status);
}
