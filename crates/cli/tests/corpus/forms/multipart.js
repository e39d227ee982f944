// A file makes a form multipart.
import http from 'k6/http';
const bytes = open('./with/note.txt', 'b');
const text = open('./with/note.txt');
export default function () {
  const r = http.post(`${__ENV.BASE}/post`, { field: 'value', file: http.file(bytes, 'note.txt', 'text/plain') });
  console.log(r.status, JSON.stringify(r.json('form')), JSON.stringify(r.json('files')));
  const other = http.post(`${__ENV.BASE}/post`, { only: http.file(text, 'note.txt') });
  console.log(other.status, Object.keys(other.json('files')).join());
  console.log(/^[0-9]+$/.test(http.file(text).filename), http.file(text).content_type);
  const file = http.file('data', 'a "name".bin');
  console.log(file.filename, file.content_type, file.data);
  console.log(http.post(`${__ENV.BASE}/post`, { f: file, n: 5, b: true }).json('form.n'));
}
