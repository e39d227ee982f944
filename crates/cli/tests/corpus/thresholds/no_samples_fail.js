// exit: 99
// A counter without samples can break its threshold.
import { Counter } from 'k6/metrics';
new Counter('none_counter');
export const options = { thresholds: { none_counter: ['count>0'] } };
export default function () {}
