// And the other way round.
import http from 'k6/http';
export const options = { iterations: 2 };
export default function () {
  console.log(http.get('http://127.0.0.1:1/').error_code);
  http.get('http://127.0.0.1:1/', { throw: true });
  console.log('never');
}
