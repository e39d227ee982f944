// An empty list only shows a submetric.
import { Counter } from 'k6/metrics';
const counter = new Counter('seen');
export const options = { thresholds: { 'seen{a:b}': [], 'http_reqs{status:200}': [] } };
export default function () { counter.add(1, { a: 'b' }); counter.add(2); }
