// order: any
// Checks of many users add up.
import { check } from 'k6';
export const options = { vus: 5, iterations: 100 };
export default function () {
  check(__ITER, { even: (n) => n % 2 === 0 || n >= 0, 'is a user': () => __VU >= 1 && __VU <= 5 });
}
