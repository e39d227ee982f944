// args: --throw
// The same with throw; a parameter can say otherwise.
import http from 'k6/http';
export default function () {
  try { http.get('http://127.0.0.1:1/'); console.log('not thrown'); } catch (error) { console.log('thrown'); }
  console.log(http.get('http://127.0.0.1:1/', { throw: false }).status);
}
