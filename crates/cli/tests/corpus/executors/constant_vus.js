// order: any
// Users that loop for a second.
import { sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'constant-vus', vus: 2, duration: '1s' } } };
export default function () { console.log(__VU, __ITER); sleep(0.4); }
