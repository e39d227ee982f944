// Without samples: counters count nothing, rates pass, trends read zero.
import { Counter, Rate, Trend } from 'k6/metrics';
new Counter('none_counter');
new Rate('none_rate');
new Trend('none_trend');
export const options = { thresholds: { none_counter: ['count==0'], none_rate: ['rate>0.9'], none_trend: ['p(95)<1'], http_req_duration: ['p(95)<100'] } };
export default function () {}
