// Tags of samples may be numbers and flags, but nothing else.
import { Counter } from 'k6/metrics';
const counter = new Counter('tagged');
export const options = { thresholds: { 'tagged{a:1}': ['count==1'], 'tagged{b:true}': ['count==1'], 'tagged{c:x y}': ['count==1'] } };
export default function () {
  counter.add(1, { a: 1 });
  counter.add(1, { b: true });
  counter.add(1, { c: 'x y' });
  for (const tags of [{ d: {} }, { d: [1] }, { d: null }]) {
    try { counter.add(1, tags); console.log('taken'); } catch (error) { console.log('refused'); }
  }
}
