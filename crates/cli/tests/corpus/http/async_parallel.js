// order: any
// Several at once.
import http from 'k6/http';
export default async function () {
  const wanted = [1, 2, 3].map((n) => http.asyncRequest('GET', `${__ENV.BASE}/anything?n=${n}`));
  const answers = await Promise.all(wanted);
  console.log(answers.map((r) => r.json('args.n')).join());
  const failed = await http.asyncRequest('GET', 'http://127.0.0.1:1/');
  console.log(failed.status, failed.error_code);
}
