// The four kinds of metrics, with and without tags.
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const counter = new Counter('my_counter');
const gauge = new Gauge('my_gauge');
const rate = new Rate('my_rate');
const trend = new Trend('my_trend');
const time = new Trend('my_time', true);
const size = new Counter('my_size', false);
export const options = { iterations: 10 };
export default function () {
  console.log(__ITER, counter.add(__ITER), gauge.add(10 - __ITER), rate.add(__ITER % 3 === 0), trend.add(__ITER * 1.5), time.add(__ITER), size.add(2.5));
  counter.add(1, { color: 'red' });
  if (__ITER === 0) console.log(counter.name, gauge.name, rate.name, trend.name);
}
