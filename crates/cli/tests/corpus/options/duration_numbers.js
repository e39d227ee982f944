// Durations as numbers and as texts.
import { sleep } from 'k6';
export const options = { scenarios: { s: { executor: 'constant-vus', vus: 1, duration: 1000, startTime: '100', gracefulStop: '1s500ms' } } };
export default function () { sleep(0.6); }
