// order: any
// Functions of all kinds can be run.
export const options = { scenarios: { a: { executor: 'shared-iterations', exec: 'arrow' }, b: { executor: 'shared-iterations', exec: 'later', startTime: '300ms' } } };
export const arrow = () => console.log('arrow');
export const later = async () => { await null; console.log('later'); };
