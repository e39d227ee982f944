// Modules of one's own: default, names, namespaces, cycles, live bindings.
import first, { second as two, count, increase } from './with/lib/names.js';
import * as all from './with/lib/names.js';
import { even } from './with/lib/even.js';
export { first as exported };
export default function () {
  increase();
  console.log(first(), two, count, all.count, Object.keys(all).sort().join(), even(10));
}
