export const options = { scenarios: { s: { executor: 'ramping-arrival-rate', startRate: 10, timeUnit: '1s', preAllocatedVUs: 3, stages: [{ duration: '1s', target: 10 }, { duration: '1s', target: 31 }] } } };
export default function () {}
