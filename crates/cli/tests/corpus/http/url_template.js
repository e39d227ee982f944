// http.url keeps names together.
import http from 'k6/http';
export const options = { thresholds: { 'http_reqs{name:http://127.0.0.1/anything/${}}': [] } };
export default function () {
  for (const id of [1, 2, 3]) {
    const r = http.get(http.url`${__ENV.BASE}/anything/item-${id}`);
    console.log(r.status, r.url);
  }
}
