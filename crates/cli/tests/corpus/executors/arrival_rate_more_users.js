// More users are made when arrivals find nobody free.
import { sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'constant-arrival-rate', rate: 5, duration: '1100ms', preAllocatedVUs: 6, maxVUs: 10, gracefulStop: '3s' } } };
export default function () { sleep(0.5); }
