// exit: 108
// test.abort() ends the run; teardown still runs.
import exec from 'k6/execution';
export const options = { iterations: 5 };
export default function () {
  console.log('begun', __ITER);
  if (__ITER === 1) exec.test.abort('enough');
}
export function teardown() { console.log('teardown'); }
