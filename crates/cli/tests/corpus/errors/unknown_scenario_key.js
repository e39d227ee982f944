// exit: 104
// A key that a scenario does not have.
export const options = { scenarios: { s: { executor: 'constant-vus', vus: 1, duration: '1s', speed: 5 } } };
export default function () {}
