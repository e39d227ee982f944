// fail() ends an iteration, not the run.
import { fail } from 'k6';
export const options = { iterations: 3 };
export default function () {
  if (__ITER === 1) fail('the second one fails');
  console.log('passed', __ITER);
}
