// Several forms, methods and buttons.
import http from 'k6/http';
export default function () {
  const page = http.get(`${__ENV.BASE}/forms/many`);
  const search = page.submitForm({ formSelector: '#search', fields: { q: 'a b&c' } });
  console.log(search.request.method, search.url, JSON.stringify(search.json('args')));
  const two = page.submitForm({ formSelector: '#put', submitSelector: '#two' });
  console.log(JSON.stringify(two.json('form')));
  const bare = page.submitForm({ formSelector: '#bare' });
  console.log(bare.request.method, bare.url);
}
