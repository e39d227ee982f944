// For all requests of a user.
import http from 'k6/http';
export const options = { iterations: 2 };
http.setResponseCallback(http.expectedStatuses(404));
export default function () {
  http.get(`${__ENV.BASE}/status/404`);
  http.get(`${__ENV.BASE}/get`);
  if (__ITER === 0) http.setResponseCallback(null);
  else http.setResponseCallback(http.expectedStatuses(200));
  http.get(`${__ENV.BASE}/status/500`);
}
