// order: any
// differs console: the init code does not run once more for a handleSummary that is not there
// How often the init code runs.
console.log('init', __VU);
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 2, iterations: 1 } } };
export function setup() {}
export default function () {}
export function teardown() {}
