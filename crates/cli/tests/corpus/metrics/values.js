// What counts as a number.
import { Counter, Rate, Trend } from 'k6/metrics';
const counter = new Counter('count_of');
const rate = new Rate('rate_of');
const trend = new Trend('trend_of');
export default function () {
  for (const value of [1, 2.5, '3', '0.5', true, false, -1, 0]) console.log(JSON.stringify(value), counter.add(value));
  for (const value of [1, 0, true, false, '1', 5]) console.log(JSON.stringify(value), rate.add(value));
  for (const value of [1, '2', true, -3]) console.log(JSON.stringify(value), trend.add(value));
}
