// order: any
// A user that serves two scenarios, one after the other, keeps its globals.
let calls = 0;
export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 1, iterations: 2, gracefulStop: '0s', maxDuration: '1s' }, b: { executor: 'per-vu-iterations', vus: 1, iterations: 1, startTime: '1s' } } };
export default function () { calls += 1; console.log(__VU, __ITER, calls); }
