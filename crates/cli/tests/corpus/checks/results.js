// Truthiness decides; plain values count as they are; the result is whether all passed.
import { check } from 'k6';
export default function () {
  console.log(check(5, { one: (n) => n === 5, two: true, three: 'text', four: 1 }));
  console.log(check(5, { five: 0, six: '', seven: null, eight: undefined, nine: NaN, ten: () => {} }));
  console.log(check(null, {}), check(undefined, { value: (v) => v === undefined }));
  console.log(check([], { 'an object is true': (v) => v, 'a list': {} }));
}
