// Timers by their due time; the iteration waits for them.
export default function () {
  setTimeout(() => console.log('third'), 60);
  setTimeout((a, b) => console.log('second', a, b), 20, 'x', 5);
  setTimeout(() => console.log('zero'), 0);
  Promise.resolve().then(() => console.log('micro'));
  console.log('first');
}
