// Headers of requests.
import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/headers`, { headers: { 'X-Text': 'a', 'x-number': 5, 'X-Flag': true, 'X-Empty': '', 'User-Agent': 'me', Accept: 'text/plain' } });
  console.log(r.body);
  console.log(JSON.stringify(http.get(`${__ENV.BASE}/user-agent`).json()));
  const host = http.get(`${__ENV.BASE}/headers`, { headers: { Host: 'another.example' } });
  console.log(host.json('headers.Host'));
}
