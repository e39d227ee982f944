// JSON from bytes.
import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/json`, { responseType: 'binary' });
  console.log(r.json('slideshow.author'), r.json().truth);
}
