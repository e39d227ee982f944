// What the language can do.
class Point {
  #x = 1;
  static origin = new Point();
  get x() { return this.#x; }
  set x(value) { this.#x = value; }
}
function* numbers() { yield 1; yield* [2, 3]; }
export default function () {
  const point = new Point();
  point.x = 5;
  console.log(point.x, Point.origin.x, [...numbers()].join());
  const { a, ...rest } = { a: 1, b: 2, c: 3 };
  console.log(a, JSON.stringify(rest), null ?? 'default', undefined?.deep?.er);
  console.log('a-b-c'.replaceAll('-', '+'), [3, 1, 2].sort().join(), [1, [2, [3]]].flat(2).join());
  console.log(new Map([[1, 'one']]).get(1), new Set([1, 1, 2]).size, 2n ** 64n);
  console.log(Object.entries({ x: 1 }).join(), Number.parseFloat('1.5e3'), (255).toString(16));
  console.log([1, 2, 3].at(-1), [1, 2, 3].findLast((n) => n < 3), 'x'.padStart(3, '-'));
  const tag = (strings, ...values) => strings.raw.join('|') + values.join();
  console.log(tag`a${1}b${2}c`);
  let text = '';
  for (const letter of 'añ🦀') text += `[${letter}]`;
  console.log(text, 'añ🦀'.length);
  label: for (let i = 0; i < 3; i++) { for (;;) { if (i === 1) break label; continue label; } }
  console.log(new Date(0).toISOString(), JSON.stringify({ d: new Date(0), u: undefined, n: NaN }));
  console.log(/(\d+)-(\d+)/.exec('10-20').slice(1).join(), 'aBc'.replace(/b/i, (m) => m + m));
  console.log(typeof Symbol.iterator, Number.MAX_SAFE_INTEGER, Math.trunc(-1.5), 0.1 + 0.2);
  try { null.x; } catch (error) { console.log(error instanceof TypeError, error.name); }
}
