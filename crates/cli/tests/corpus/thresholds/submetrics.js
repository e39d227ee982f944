// exit: 99
// Submetrics by one tag and by several.
import { Counter, Trend } from 'k6/metrics';
const counter = new Counter('parts');
const trend = new Trend('lengths');
export const options = {
  iterations: 3,
  thresholds: {
    'parts{side:left}': ['count==3'],
    'parts{side:left,size:big}': ['count==1'],
    'parts{ side:right }': ['count==3'],
    'parts{side:nowhere}': ['count==0'],
    'lengths{side:left}': ['avg<10'],
    'lengths{side:right}': ['avg<10'],
    'lengths{side:nowhere}': ['avg<10'],
  },
};
export default function () {
  counter.add(1, { side: 'left', size: __ITER === 0 ? 'big' : 'small' });
  counter.add(1, { side: 'right' });
  trend.add(5, { side: 'left' });
  trend.add(50, { side: 'right' });
}
