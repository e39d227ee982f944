// order: any
// Iterations are numbered without gaps over all users.
import exec from 'k6/execution';
export const options = { scenarios: { a: { executor: 'shared-iterations', vus: 3, iterations: 30 } } };
export default function () { console.log('number', exec.scenario.iterationInTest); }
