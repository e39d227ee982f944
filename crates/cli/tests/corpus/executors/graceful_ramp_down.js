// Users that leave may finish.
import { sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'ramping-vus', startVUs: 2, stages: [{ duration: '500ms', target: 2 }, { duration: '0s', target: 0 }], gracefulRampDown: '3s' } } };
export default function () { sleep(0.8); console.log('finished'); }
