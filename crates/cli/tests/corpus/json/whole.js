// The whole document: parsed once.
import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/json`);
  const one = r.json();
  console.log(one.slideshow.slides.length, Object.keys(one).sort().join());
  one.changed = true;
  console.log(r.json().changed, r.json('changed'));
}
