// Packed answers are unpacked, whatever was asked for.
import http from 'k6/http';
export default function () {
  for (const path of ['gzip', 'deflate', 'brotli', 'zstd']) {
    const r = http.get(`${__ENV.BASE}/${path}`);
    console.log(path, r.status, r.headers['Content-Encoding'], r.body.length, r.json('accept'));
  }
  const asked = http.get(`${__ENV.BASE}/gzip`, { headers: { 'Accept-Encoding': 'gzip, br' } });
  console.log(asked.json('accept'), asked.json('gzipped'));
}
