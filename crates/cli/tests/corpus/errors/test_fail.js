// exit: 110
// test.fail() lets the run go on.
import exec from 'k6/execution';
export const options = { iterations: 3 };
export default function () {
  console.log('begun', __ITER);
  if (__ITER === 0) exec.test.fail('not good');
  console.log('goes on', __ITER);
}
