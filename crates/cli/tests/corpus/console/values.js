// Values are joined by a space; objects are JSON.
export default function () {
  console.log('text', 1, 1.5, true, null, undefined, 12345678901234567890, -0, 1e21, NaN, Infinity);
  console.log({ a: 1, b: { c: [1, 2] } }, [1, 'two', null], []);
  console.log('');
  console.log('%s is not a format', 'this');
  console.log('a line\nand another', 'tab\tbed', '"quoted"', 'back\\slash', 'ünïcode 🦀');
}
