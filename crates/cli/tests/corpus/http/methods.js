// Every call, what it sends and what comes back.
import http from 'k6/http';
const base = __ENV.BASE;
export default function () {
  const answers = [
    http.get(`${base}/get?a=1`),
    http.head(`${base}/get`),
    http.options(`${base}/anything`, 'an options body'),
    http.post(`${base}/post`, 'text'),
    http.put(`${base}/put`, 'text'),
    http.patch(`${base}/patch`, 'text'),
    http.del(`${base}/delete`, 'text'),
    http.del(`${base}/delete`),
    http.request('GET', `${base}/get`),
    http.request('POST', `${base}/post`, 'by request'),
    http.request('PROPFIND', `${base}/anything`, null),
    http.request('get', `${base}/get`),
  ];
  for (const answer of answers) console.log(answer.status, answer.request.method, answer.url, answer.body ? answer.body.length > 0 : answer.body);
}
