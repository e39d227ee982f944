// Text, bytes or nothing.
import http from 'k6/http';
export default function () {
  const url = `${__ENV.BASE}/bytes/5`;
  const binary = http.get(url, { responseType: 'binary' });
  console.log(binary.body instanceof ArrayBuffer, new Uint8Array(binary.body).join());
  const none = http.get(url, { responseType: 'none' });
  console.log(none.body, none.status);
  const text = http.get(`${__ENV.BASE}/encoding/utf8`, { responseType: 'text' });
  console.log(text.body.length, text.body.slice(4, 9), text.body.includes('🦀'));
}
