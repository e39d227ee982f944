// order: any
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 3, iterations: 4 } } };
export default function () { console.log(__VU, __ITER); }
