// differs metrics: what cannot be sent is no request
// differs tags: the same
// differs console: http:// is a wrong URL
// What is no URL.
import http from 'k6/http';
export default function () {
  for (const url of ['', 'nonsense', 'ftp://127.0.0.1/', 'http://', 'http://[bad/', '/relative']) {
    try {
      const r = http.get(url);
      console.log(url, r.status, r.error_code);
    } catch (error) {
      console.log(url, 'thrown');
    }
  }
}
