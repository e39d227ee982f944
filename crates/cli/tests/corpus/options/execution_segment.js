// order: any
// args: --execution-segment 0:1/2
// Half of a run.
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 4, iterations: 3 } } };
export default function () { console.log(__VU, __ITER); }
