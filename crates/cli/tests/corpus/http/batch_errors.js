// order: any
// Failures inside a batch.
import http from 'k6/http';
export default function () {
  const answers = http.batch(['http://127.0.0.1:1/', `${__ENV.BASE}/status/500`, `${__ENV.BASE}/get`]);
  console.log(answers.map((r) => `${r.status}/${r.error_code}`).join());
}
