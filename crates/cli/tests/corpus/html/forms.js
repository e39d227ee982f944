// What a form would send.
import http from 'k6/http';
export default function () {
  const doc = http.get(`${__ENV.BASE}/forms/post`).html();
  const form = doc.find('form');
  console.log(form.serialize());
  console.log(JSON.stringify(form.serializeArray()));
  console.log(JSON.stringify(form.serializeObject()));
  console.log(doc.find('input[name=custname]').val(), doc.find('select').val(), doc.find('textarea').val(), doc.find('option').first().val());
}
