// exit: 104
// A rate below nothing.
export const options = { scenarios: { s: { executor: 'constant-arrival-rate', rate: -1, duration: '1s', preAllocatedVUs: 1 } } };
export default function () {}
