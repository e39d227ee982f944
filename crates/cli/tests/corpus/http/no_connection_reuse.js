// args: --no-connection-reuse
// A connection for each request.
import http from 'k6/http';
export default function () {
  for (let i = 0; i < 3; i++) http.get(`${__ENV.BASE}/get`);
}
