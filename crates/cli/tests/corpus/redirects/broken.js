// Places that are none.
import http from 'k6/http';
export default function () {
  for (const place of ['http://[bad/', 'nowhere:x']) {
    const r = http.get(`${__ENV.BASE}/redirect-to?url=${encodeURIComponent(place)}`);
    console.log(place, r.status, r.error_code > 0);
  }
}
