// exit: 104
// Nobody.
export const options = { scenarios: { s: { executor: 'constant-vus', vus: 0, duration: '1s' } } };
export default function () {}
