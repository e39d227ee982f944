// differs console: k6 answers with status 0 and a warning, we throw
// A packing that nobody knows.
import http from 'k6/http';
export default function () {
  try {
    const r = http.post(`${__ENV.BASE}/post`, 'x', { compression: 'rar' });
    console.log('not thrown', r.status);
  } catch (error) {
    console.log('thrown');
  }
}
