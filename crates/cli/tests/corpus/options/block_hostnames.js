// Names that must not be touched.
import http from 'k6/http';
export const options = { blockHostnames: ['blocked.example', '*.all.example'], hosts: { 'fine.example': '127.0.0.1' } };
export default function () {
  for (const name of ['blocked.example', 'a.all.example', 'fine.example']) {
    const r = http.get(`http://${name}:${__ENV.PORT}/get`);
    console.log(name, r.status, r.error_code);
  }
}
