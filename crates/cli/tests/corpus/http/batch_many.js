// order: any
// More than fit at once.
import http from 'k6/http';
export const options = { batch: 4, batchPerHost: 3 };
export default function () {
  const urls = [];
  for (let i = 0; i < 25; i++) urls.push(`${__ENV.BASE}/anything?n=${i}`);
  const answers = http.batch(urls);
  console.log(answers.length, answers.every((r, i) => r.status === 200 && r.json('args.n') === String(i)));
}
