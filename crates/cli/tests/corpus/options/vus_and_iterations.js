// args: --vus 2 --iterations 6
// order: any
// Flags are stronger than the script.
import exec from 'k6/execution';
export const options = { vus: 1, iterations: 1 };
export default function () { console.log('ran', exec.scenario.iterationInTest); }
