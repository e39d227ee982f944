// stdout: same
// handleSummary gets everything and says what is written.
import http from 'k6/http';
import { check, group } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const counter = new Counter('my_counter');
const gauge = new Gauge('my_gauge');
const rate = new Rate('my_rate');
const trend = new Trend('my_trend');
export const options = { iterations: 4, thresholds: { my_counter: ['count>1', 'count<100'], 'http_reqs{name:a}': ['count==4'] }, summaryTrendStats: ['avg', 'p(90)'] };
export function setup() { return { given: [1, 2] }; }
export default function () {
  group('g', () => group('h', () => check(http.get(`${__ENV.BASE}/get`, { tags: { name: 'a' } }), { fine: (r) => r.status === 200, bad: () => false })));
  counter.add(2);
  gauge.add(__ITER);
  rate.add(__ITER > 0);
  trend.add(__ITER);
}
export function handleSummary(data) {
  return { stdout: 'to standard output\n', 'summary-of-run.json': JSON.stringify(data), 'text.txt': `${data.metrics.my_counter.values.count}` };
}
