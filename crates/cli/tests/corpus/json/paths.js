// GJSON paths.
import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/json`);
  const paths = ['slideshow.title', 'slideshow.slides.0.title', 'slideshow.slides.#', 'slideshow.slides.#.title', 'slideshow.slides.1.items.1', 'numbers', 'numbers.1', 'numbers.#', 'truth', 'nothing', 'no.where', 'slideshow.slides.9', 'fav\\.movie', 'slide*.author', 'slideshow.auth?r', 'friends.#(last=="Murphy").first', 'friends.#(last=="Murphy")#.first', 'friends.#(age>45)#.last', 'friends.#(first%"D*").last', 'friends.#(first!%"D*").last', 'friends.#(nets.#(=="fb"))#.first', 'friends.#.nets.0', 'friends.@reverse.0.first', 'numbers.@reverse', 'slideshow.@keys', 'friends.#.age|@reverse', '{a:truth,b:numbers.0}', '[truth,numbers.0]', 'friends.0.@values'];
  for (const path of paths) {
    const value = r.json(path);
    console.log(path, value === undefined ? 'undefined' : JSON.stringify(value));
  }
}
