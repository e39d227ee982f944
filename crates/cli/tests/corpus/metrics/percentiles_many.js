// The same with more values than are kept one by one.
// args: --summary-trend-stats avg,min,med,max,p(1),p(50),p(90),p(95),p(99),p(99.9),count
import { Trend } from 'k6/metrics';
const trend = new Trend('values');
const small = new Trend('small');
export const options = { iterations: 100 };
export default function () {
  for (let i = 0; i < 100; i++) {
    const number = __ITER * 100 + i;
    trend.add((number * 7919) % 10000);
    small.add(((number * 7919) % 10000) / 1000 + 1);
  }
}
