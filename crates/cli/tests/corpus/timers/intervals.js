// Intervals until they are cleared.
import { setInterval, clearInterval, setTimeout, clearTimeout } from 'k6/timers';
export default function () {
  let count = 0;
  const id = setInterval(() => { count += 1; console.log('tick', count); if (count === 3) clearInterval(id); }, 10);
  const never = setTimeout(() => console.log('never'), 20);
  clearTimeout(never);
  clearTimeout(12345);
  setTimeout(() => console.log('negative'), -5);
}
