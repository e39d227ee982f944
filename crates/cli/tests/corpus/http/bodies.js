// What can be sent.
import http from 'k6/http';
const url = `${__ENV.BASE}/anything`;
export default function () {
  const bodies = ['text', '', null, undefined, new Uint8Array([1, 2, 3]).buffer, new Uint8Array([104, 105]), { a: 1, b: 'x y', c: true, d: [1, 'two'], 'e&': 'ü=&' }, {}, JSON.stringify({ a: 1 })];
  for (const body of bodies) {
    const r = http.post(url, body);
    const said = r.json();
    console.log(r.status, JSON.stringify(said.data), JSON.stringify(said.form), said.headers['Content-Type'], said.headers['Content-Length'], JSON.stringify(r.request.body));
  }
}
