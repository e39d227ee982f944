// A metric without samples does not appear, unless it has a threshold.
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
new Counter('unused_counter');
new Counter('awaited_counter');
new Rate('awaited_rate');
new Trend('awaited_trend');
new Gauge('awaited_gauge');
export const options = { thresholds: { awaited_counter: ['count<1'], awaited_rate: ['rate<1'], awaited_trend: ['avg<1'], awaited_gauge: ['value<1'] } };
export default function () {}
