// order: any
// Module variables live through all iterations of a user and are each user's own.
let count = 0;
const seen = [];
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 2, iterations: 3 } } };
export default function () {
  count += 1;
  seen.push(__ITER);
  console.log(__VU, count, seen.join());
}
