// What becomes of the method and the body.
import http from 'k6/http';
export default function () {
  for (const code of [301, 302, 303, 307, 308]) {
    for (const method of ['POST', 'PUT', 'HEAD']) {
      const r = http.request(method, `${__ENV.BASE}/redirect-to?url=/anything&status_code=${code}`, method === 'HEAD' ? null : 'a body', { headers: { 'Content-Type': 'text/plain', 'X-Kept': 'yes' } });
      console.log(code, method, r.status, method === 'HEAD' ? '' : `${r.json('method')} ${r.json('data')} ${r.json('headers.X-Kept')} ${r.json('headers.Content-Type')}`);
    }
  }
}
