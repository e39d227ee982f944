// Until something comes.
import { parseHTML } from 'k6/html';
export default function () {
  const doc = parseHTML('<div><h2>a</h2><p>1</p><p>2</p><h2 class="x">b</h2><p>3</p></div>');
  console.log(doc.find('h2').first().nextUntil('h2').text(), doc.find('p').last().prevUntil('h2').size(), doc.find('h2').first().nextAll('p').size(), doc.find('.x').prevAll().size(), doc.find('p').parentsUntil('body').size());
  console.log(doc.find('h2').end().size(), doc.find('p').first().next().next().attr('class'), doc.find('p').get(5));
}
