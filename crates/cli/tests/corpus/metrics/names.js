// Names of metrics.
import { Counter } from 'k6/metrics';
const tried = [];
for (const name of ['a', 'ab', '_ab', '1ab', 'a-b', 'a b', 'ä_b', 'a'.repeat(128), 'a'.repeat(129), 'a'.repeat(130), '']) {
  try { new Counter(name); tried.push('yes'); } catch (error) { tried.push('no'); }
}
export default function () { console.log(tried.join()); }
