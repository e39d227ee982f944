// exit: 104
// Two ways at once.
export const options = { stages: [{ duration: '1s', target: 1 }], scenarios: { s: { executor: 'shared-iterations' } } };
export default function () {}
