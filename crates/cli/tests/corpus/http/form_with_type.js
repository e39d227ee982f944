// A form keeps the script's own type.
import http from 'k6/http';
export default function () {
  const r = http.post(`${__ENV.BASE}/post`, { z: 1, a: 'two words', m: 'ä' }, { headers: { 'Content-Type': 'application/x-www-form-urlencoded; charset=utf-8' } });
  console.log(JSON.stringify(r.json().form), r.request.body);
  const other = http.post(`${__ENV.BASE}/post`, { z: 1 }, { headers: { 'content-type': 'application/json' } });
  console.log(other.json().data, other.request.body);
}
