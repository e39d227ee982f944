// args: --throw
// The same with the option throw.
import { Counter } from 'k6/metrics';
const counter = new Counter('counted');
export default function () {
  try { counter.add(NaN); console.log('taken'); } catch (error) { console.log('refused'); }
  counter.add(1);
}
