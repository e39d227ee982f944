// Forms of pages.
import http from 'k6/http';
export default function () {
  const page = http.get(`${__ENV.BASE}/forms/post`);
  const r = page.submitForm();
  console.log(r.status, r.url, JSON.stringify(r.json('form')));
  const filled = page.submitForm({ formSelector: 'form', fields: { custname: 'Bob', extra: 'x', size: 'small' }, params: { headers: { 'X-Form': '1' } } });
  console.log(JSON.stringify(filled.json('form')), filled.json('headers.X-Form'));
}
