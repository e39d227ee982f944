// order: any
// Parameters of each request of a batch.
import http from 'k6/http';
export default function () {
  const [binary, none, failed] = http.batch([
    ['GET', `${__ENV.BASE}/bytes/3`, null, { responseType: 'binary', tags: { name: 'bytes' } }],
    ['GET', `${__ENV.BASE}/get`, null, { responseType: 'none' }],
    ['GET', `${__ENV.BASE}/status/404`, null, { responseCallback: http.expectedStatuses(404) }],
  ]);
  console.log(new Uint8Array(binary.body).join(), none.body, failed.status);
}
