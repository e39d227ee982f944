// The same for each user.
import { sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 2, iterations: 3, maxDuration: '1s', gracefulStop: '0s' } } };
export default function () { sleep(0.8); }
