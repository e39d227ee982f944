// Which statistics a summary has.
import { Trend } from 'k6/metrics';
const trend = new Trend('values');
export const options = { iterations: 10, summaryTrendStats: ['med', 'p(99)', 'count', 'max'] };
export default function () { trend.add(__ITER); }
