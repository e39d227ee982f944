// Elements and their methods.
import http from 'k6/http';
export default function () {
  const doc = http.get(`${__ENV.BASE}/html`).html();
  const link = doc.find('a').last().get(0);
  console.log(link.nodeName(), link.nodeType(), link.href(), link.hostname(), link.pathname(), link.search(), link.hash(), link.rel(), link.protocol());
  const image = doc.find('img').get(0);
  console.log(image.src(), image.alt(), image.width(), image.height());
  const chapter = doc.find('.chapter').get(0);
  console.log(chapter.className(), chapter.classList().join(), chapter.getAttribute('data-number'), chapter.hasAttribute('none'), chapter.id(), chapter.childElementCount());
  console.log(chapter.firstChild().textContent(), chapter.lastChild().nodeName(), chapter.parentNode().nodeName(), chapter.nextElementSibling().nodeName(), chapter.innerHTML());
  console.log(chapter.querySelector('.hint').textContent(), chapter.querySelectorAll('p').length, chapter.isEqualNode(chapter), chapter.toString());
}
