// A metric can only be made in the init context.
import { Counter } from 'k6/metrics';
export default function () {
  try { new Counter('late'); console.log('made'); } catch (error) { console.log('refused'); }
}
