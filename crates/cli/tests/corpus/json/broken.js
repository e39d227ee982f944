// What is no JSON.
import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/invalid-json`);
  try { r.json(); console.log('read'); } catch (error) { console.log('thrown'); }
  console.log(r.json('a'), r.json('c'));
  const none = http.get(`${__ENV.BASE}/json`, { responseType: 'none' });
  try { none.json(); console.log('read'); } catch (error) { console.log('thrown'); }
  const html = http.get(`${__ENV.BASE}/html`);
  try { html.json(); console.log('read'); } catch (error) { console.log('thrown'); }
  console.log(html.json('a'));
}
