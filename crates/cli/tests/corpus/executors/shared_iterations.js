// order: any
// One counter for all users.
import exec from 'k6/execution';
export const options = { scenarios: { s: { executor: 'shared-iterations', vus: 3, iterations: 20, maxDuration: '10s' } } };
export default function () { console.log('ran', exec.scenario.iterationInTest); }
