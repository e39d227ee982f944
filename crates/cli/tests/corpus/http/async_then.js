// With then, the iteration waits for what is pending.
import http from 'k6/http';
export default function () {
  http.asyncRequest('GET', `${__ENV.BASE}/delay/0.05`).then((r) => console.log('answer', r.status));
  console.log('first');
}
