// exit: 104
// What an executor needs.
export const options = { scenarios: { s: { executor: 'constant-arrival-rate', rate: 1 } } };
export default function () {}
