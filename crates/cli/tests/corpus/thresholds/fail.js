// exit: 99
// Broken ones beside kept ones.
import { Counter, Trend } from 'k6/metrics';
const counter = new Counter('c_fail');
const trend = new Trend('t_fail');
export const options = { iterations: 2, thresholds: { c_fail: ['count>2', 'count<3'], t_fail: ['p(95)<1', 'max<100'] } };
export default function () { counter.add(1); trend.add(10); }
