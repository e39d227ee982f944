// A check that throws has failed, and the exception is passed on at once.
import { check } from 'k6';
export const options = { iterations: 2 };
export default function () {
  try {
    check(null, { before: () => true, broken: (v) => v.x.y, after: () => true });
  } catch (error) {
    console.log('caught', error instanceof TypeError);
  }
  check(1, { end: () => true });
}
