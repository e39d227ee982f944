// A running iteration may finish.
import { sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '5s' } } };
export default function () { sleep(1.3); console.log('finished'); }
