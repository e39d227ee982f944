// Links of pages.
import http from 'k6/http';
export default function () {
  const page = http.get(`${__ENV.BASE}/links/3/0`);
  const next = page.clickLink();
  console.log(next.status, next.url);
  console.log(page.clickLink({ selector: 'a:nth-child(2)', params: { tags: { name: 'link' } } }).url);
  console.log(http.get(`${__ENV.BASE}/html`).clickLink({ selector: 'a[title=next]' }).url);
  try { page.clickLink({ selector: '#none' }); console.log('clicked'); } catch (error) { console.log('refused'); }
}
