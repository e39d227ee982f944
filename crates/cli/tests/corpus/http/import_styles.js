// Modules as default, by name and as a namespace; libraries may patch them.
import http from 'k6/http';
import { get, post as send } from 'k6/http';
import * as all from 'k6/http';
export default function () {
  console.log(get(`${__ENV.BASE}/get`).status, send(`${__ENV.BASE}/post`, 'x').status, all.get(`${__ENV.BASE}/get`).status);
  const real = http.request;
  let calls = 0;
  http.request = (...given) => { calls += 1; return real(...given); };
  http.request('GET', `${__ENV.BASE}/get`);
  http.get(`${__ENV.BASE}/get`);
  console.log(calls);
  http.request = real;
}
