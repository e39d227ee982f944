// The same without a catch: the iteration ends.
import { check } from 'k6';
export default function () {
  check(null, { broken: () => { throw new Error('in a check'); } });
  console.log('never');
}
