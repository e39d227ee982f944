// Arrivals that nobody is free for are dropped.
import { sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'constant-arrival-rate', rate: 10, duration: '1050ms', preAllocatedVUs: 1, gracefulStop: '3s' } } };
export default function () { sleep(1.3); }
