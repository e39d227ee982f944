// exit: 104
// An executor that nobody knows.
export const options = { scenarios: { s: { executor: 'magic' } } };
export default function () {}
