// A gauge keeps its last value and its bounds.
import { Gauge } from 'k6/metrics';
const gauge = new Gauge('level');
export const options = { iterations: 5, thresholds: { level: ['value==7'], 'level{side:left}': ['value<3'] } };
const values = [5, -2, 11.5, 3, 7];
export default function () {
  gauge.add(values[__ITER]);
  gauge.add(__ITER - 2, { side: 'left' });
  gauge.add(values[__ITER]);
}
