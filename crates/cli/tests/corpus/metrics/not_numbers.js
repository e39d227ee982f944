// What is no number is refused with a warning.
import { Counter, Trend } from 'k6/metrics';
const counter = new Counter('counted');
const trend = new Trend('measured');
export default function () {
  console.log(counter.add(NaN), counter.add(null), counter.add(undefined), counter.add('text'), counter.add({}));
  console.log(trend.add(NaN), trend.add());
  counter.add(1);
  trend.add(1);
}
