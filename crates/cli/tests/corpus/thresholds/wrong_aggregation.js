// exit: 104
// A Counter has no percentiles.
import { Counter } from 'k6/metrics';
new Counter('counted');
export const options = { thresholds: { counted: ['p(95)<1'] } };
export default function () {}
