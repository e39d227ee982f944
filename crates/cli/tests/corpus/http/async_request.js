// asyncRequest gives a promise.
import http from 'k6/http';
export const options = { iterations: 2 };
export default async function () {
  const r = await http.asyncRequest('GET', `${__ENV.BASE}/get?a=1`);
  console.log(r.status, r.json('args.a'));
  const posted = await http.asyncRequest('POST', `${__ENV.BASE}/post`, { a: 2 }, { tags: { name: 'later' } });
  console.log(posted.status, posted.json('form.a'));
}
