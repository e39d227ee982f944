// The option throw.
import http from 'k6/http';
export const options = { iterations: 2, throw: true };
export default function () {
  if (__ITER === 0) console.log(http.get('http://127.0.0.1:1/', { throw: false }).status);
  http.get('http://127.0.0.1:1/');
  console.log('never');
}
