// Anything can be thrown.
export const options = { iterations: 6 };
export default function () {
  const things = ['a text', 5, { a: 1 }, null, undefined, new RangeError('range')];
  throw things[__ITER];
}
