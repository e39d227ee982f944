// exit: 104
// Some users would have nothing to do.
export const options = { scenarios: { s: { executor: 'shared-iterations', vus: 5, iterations: 3 } } };
export default function () {}
