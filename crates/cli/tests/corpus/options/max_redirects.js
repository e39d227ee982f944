// Options of the script for HTTP.
import http from 'k6/http';
export const options = { maxRedirects: 0, userAgent: 'mine', discardResponseBodies: true, noConnectionReuse: true };
export default function () {
  const r = http.get(`${__ENV.BASE}/redirect/1`);
  console.log(r.status, r.body, http.get(`${__ENV.BASE}/user-agent`, { responseType: 'text' }).json('user-agent'));
}
