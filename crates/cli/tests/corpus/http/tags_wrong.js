// differs console: wrong tags throw
// Tags that are no plain values.
import http from 'k6/http';
export default function () {
  [{ bad: {} }, { bad: [] }, { bad: null }].forEach((tags, i) => {
    try { http.get(`${__ENV.BASE}/get`, { tags }); console.log(i, 'taken'); } catch (error) { console.log(i, 'refused'); }
  });
}
