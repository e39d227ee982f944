// Steered from outside, here by nobody.
import { sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'externally-controlled', vus: 2, maxVUs: 4, duration: '1s' } } };
export default function () { sleep(0.45); }
