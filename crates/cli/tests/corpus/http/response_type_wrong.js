// differs console: wrong parameters throw
// A word that is none.
import http from 'k6/http';
export default function () {
  try {
    const r = http.get(`${__ENV.BASE}/get`, { responseType: 'json' });
    console.log('not thrown', r.status);
  } catch (error) {
    console.log('thrown');
  }
}
