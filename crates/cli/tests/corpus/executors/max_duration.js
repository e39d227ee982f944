// What is left at the end is dropped.
import { sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'shared-iterations', vus: 1, iterations: 5, maxDuration: '1s', gracefulStop: '3s' } } };
export default function () { sleep(0.7); console.log('finished', __ITER); }
