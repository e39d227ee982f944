// Statistics of a Trend.
// args: --summary-trend-stats avg,min,med,max,p(0),p(1),p(25),p(50),p(75),p(90),p(95),p(99),p(99.9),p(100),count
import { Trend } from 'k6/metrics';
const trend = new Trend('values');
const skewed = new Trend('skewed');
export const options = { iterations: 200 };
export default function () {
  trend.add((__ITER * 37) % 200);
  skewed.add(1.03 ** __ITER);
}
