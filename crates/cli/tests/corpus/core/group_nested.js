// Groups nest, give their value back and are timed.
import { check, group } from 'k6';
export const options = { iterations: 2 };
export default function () {
  const value = group('outer', () => {
    check(1, { 'in outer': (n) => n === 1 });
    return group('inner', () => {
      check(2, { 'in inner': (n) => n === 2, 'never': () => false });
      return 'from inner';
    });
  });
  group('second', () => {});
  console.log(__ITER, value);
}
