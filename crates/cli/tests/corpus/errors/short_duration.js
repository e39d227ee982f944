// exit: 104
// Less than a second.
export const options = { scenarios: { s: { executor: 'constant-vus', vus: 1, duration: '100ms' } } };
export default function () {}
