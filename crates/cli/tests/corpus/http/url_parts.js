// differs metrics: an URL with letters outside of ASCII is escaped, so that it is understood
// differs tags: the same
// differs console: URLs are written by the rules that browsers have
// differs requests: the same
// What of a URL is sent.
import http from 'k6/http';
export default function () {
  for (const path of ['/anything/a b', '/anything/ä?q=ü&x=a b', '/anything?x=%20&y', '/anything#part', '/anything/../get', '/anything//double', '/anything?x=1#f', '/anything/%2F', '/anything/a+b?c+d']) {
    const r = http.get(`${__ENV.BASE}${path}`);
    console.log(path, r.status, r.url, r.request.url);
  }
}
