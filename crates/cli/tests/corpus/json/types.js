// What comes out.
import http from 'k6/http';
export default function () {
  const body = JSON.stringify({ big: 12345678901234567890, float: 1.5e-7, neg: -0, text: 'ünï\u0000\n"', deep: [[[1]]], empty: {}, list: [], 'a.b': { 'c*d': 1 }, zero: 0, no: false });
  const r = http.post(`${__ENV.BASE}/post`, body);
  for (const path of ['json.big', 'json.float', 'json.neg', 'json.text', 'json.deep', 'json.deep.0.0.0', 'json.empty', 'json.list', 'json.a\\.b.c\\*d', 'json.zero', 'json.no', 'json.list.#', 'json.empty.x']) {
    console.log(path, JSON.stringify(r.json(path)), typeof r.json(path));
  }
}
