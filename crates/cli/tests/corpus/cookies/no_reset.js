// Cookies may be kept.
import http from 'k6/http';
export const options = { iterations: 2, noCookiesReset: true };
export default function () {
  console.log(JSON.stringify(http.get(`${__ENV.BASE}/cookies`).json('cookies')));
  http.get(`${__ENV.BASE}/cookies/set-only?a=${__ITER}`);
}
