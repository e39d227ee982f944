// order: any
export const options = { scenarios: { s: { executor: 'constant-arrival-rate', rate: 20, timeUnit: '1s', duration: '1020ms', preAllocatedVUs: 2, maxVUs: 5 } } };
export default function () { }
