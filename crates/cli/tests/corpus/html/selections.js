// Selections as jQuery has them.
import http from 'k6/http';
import { parseHTML } from 'k6/html';
export default function () {
  const page = http.get(`${__ENV.BASE}/html`);
  const doc = page.html();
  console.log(doc.find('h1').text(), page.html('title').text(), doc.find('li').size());
  console.log(doc.find('.chapter').first().attr('data-number'), doc.find('.chapter').last().attr('data-number'), doc.find('.chapter').eq(1).find('p').text());
  console.log(doc.find('li').eq(1).html(), doc.find('li.mid').prev().text(), doc.find('li.mid').next().text(), doc.find('li.mid').siblings().size());
  console.log(doc.find('.chapter').first().data('longName'), doc.find('.chapter').eq(1).data('flag'), JSON.stringify(doc.find('.chapter').eq(1).data('object')), doc.find('.chapter').data('number'));
  console.log(doc.find('li').filter('.mid').text(), doc.find('li').not('.mid').size(), doc.find('ul').has('.mid').size(), doc.find('.mid').is('li'), doc.find('li').index());
  console.log(doc.find('.mid').parent().attr('id'), doc.find('td').closest('table').find('th').size(), doc.find('p').parents('body').size(), doc.find('tr').children().size());
  console.log(doc.find('li').map((i, one) => `${i}${one.text()}`).join(), doc.find('li').slice(1, 3).text(), doc.find('li').toArray().length);
  console.log(doc.find('none').size(), doc.find('none').attr('x'), JSON.stringify(doc.find('none').text()), doc.find('a').attr('href'));
  doc.find('li').each((i, one) => console.log(i, one.nodeName(), one.textContent()));
  const own = parseHTML('<p>a<b>b</b><!-- c -->d</p>');
  console.log(own.find('p').contents().size(), own.find('p').html(), own.find('b').text(), own.find('b').add('p').size());
}
