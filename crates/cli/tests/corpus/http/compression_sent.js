// differs requests: the packed bytes hang on the library that packs
// Packed request bodies.
import http from 'k6/http';
export default function () {
  for (const compression of ['gzip', 'deflate', 'br', 'zstd', 'gzip, deflate']) {
    const r = http.post(`${__ENV.BASE}/post`, 'packed '.repeat(40), { compression, headers: { 'Content-Type': 'text/plain' } });
    const headers = r.json('headers');
    console.log(compression, r.status, headers['Content-Encoding'], Number(headers['Content-Length']) < 280);
  }
}
