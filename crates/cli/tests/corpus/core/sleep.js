// sleep() takes fractions, and nothing for what is no time.
import { sleep } from 'k6';
export default function () {
  const begun = Date.now();
  sleep(0.05);
  console.log(Date.now() - begun >= 49);
  sleep(0);
  console.log('slept');
}
