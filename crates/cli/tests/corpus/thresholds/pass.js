// All operators, passing.
import { Counter, Rate, Trend } from 'k6/metrics';
const counter = new Counter('c_pass');
const rate = new Rate('r_pass');
const trend = new Trend('t_pass');
export const options = {
  iterations: 4,
  thresholds: {
    c_pass: ['count==4', 'count>=4', 'count<=4', 'count!=5', 'count===4', 'count > 3', 'rate>0'],
    r_pass: ['rate==0.5', 'rate<=0.5'],
    t_pass: ['avg==2.5', 'min==1', 'max==4', 'med==2.5', 'p(50)==2.5', 'p(90)<4', 'p(99.9) < 4.01'],
    iterations: ['count==4'],
  },
};
export default function () {
  counter.add(1);
  rate.add(__ITER % 2);
  trend.add(__ITER + 1);
}
