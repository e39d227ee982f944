// A brake for requests.
import http from 'k6/http';
export const options = { iterations: 1, rps: 20 };
export default function () {
  const begun = Date.now();
  for (let i = 0; i < 11; i++) http.get(`${__ENV.BASE}/get`);
  const took = Date.now() - begun;
  console.log(took >= 450 && took < 3000);
}
