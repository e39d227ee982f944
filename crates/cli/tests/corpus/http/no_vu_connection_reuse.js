// args: --no-vu-connection-reuse
// Connections end with their iteration.
import http from 'k6/http';
export const options = { iterations: 2 };
export default function () {
  for (let i = 0; i < 2; i++) http.get(`${__ENV.BASE}/get`);
}
