// A group that throws passes the exception on and is timed all the same.
import { group, check } from 'k6';
export const options = { iterations: 1 };
export default function () {
  try {
    group('bad', () => { throw new Error('from the group'); });
  } catch (error) {
    console.log('caught', error.message);
  }
  check(true, { 'outside again': (yes) => yes });
}
