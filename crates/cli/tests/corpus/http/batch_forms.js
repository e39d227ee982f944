// order: any
// All forms of a batch.
import http from 'k6/http';
const base = __ENV.BASE;
export default function () {
  const list = http.batch([
    `${base}/get?n=1`,
    ['GET', `${base}/get?n=2`],
    ['POST', `${base}/post`, 'body', { headers: { 'X-In': 'batch' }, tags: { name: 'posted' } }],
    { method: 'PUT', url: `${base}/put`, body: { a: 1 }, params: { headers: { 'X-In': 'object' } } },
    { url: `${base}/get?n=5` },
    { method: 'get', url: `${base}/get?n=6`, body: 'dropped' },
    ['DELETE', `${base}/delete`, null, { responseType: 'none' }],
  ]);
  console.log(list.length, list.map((r) => r.status).join(), list[6].body);
  console.log(list[2].json('data'), list[3].json('form.a'), list[2].json('headers.X-In'), list[5].json('data'));
  const named = http.batch({ one: `${base}/get?x=1`, two: ['GET', `${base}/status/404`] });
  console.log(Object.keys(named).sort().join(), named.one.status, named.two.status, named.two.error_code);
  console.log(http.batch([]).length);
}
