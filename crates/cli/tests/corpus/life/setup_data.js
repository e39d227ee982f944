// order: any
// What setup gives is each user's own copy.
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 2, iterations: 2 } } };
export function setup() { return { list: [1, 2], none: undefined, nothing: null, nested: { a: 'b' } }; }
export default function (data) {
  data.nested[`user ${__VU}`] = __ITER;
  console.log(__VU, JSON.stringify(data));
}
export function teardown(data) { console.log('teardown', JSON.stringify(data)); }
