// exit: 104
// A scenario of a function that is not exported.
export const options = { scenarios: { s: { executor: 'shared-iterations', exec: 'nowhere' } } };
export default function () {}
