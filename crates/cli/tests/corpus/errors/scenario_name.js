// exit: 104
// A name with signs that are not allowed.
export const options = { scenarios: { 'a b!': { executor: 'shared-iterations' } } };
export default function () {}
