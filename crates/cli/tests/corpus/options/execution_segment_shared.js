// args: --execution-segment 1/3:2/3 --execution-segment-sequence 0,1/3,2/3,1
// order: any
// A third of shared iterations.
import exec from 'k6/execution';
export const options = { scenarios: { s: { executor: 'shared-iterations', vus: 3, iterations: 10 } } };
export default function () { console.log(exec.vu.idInTest, exec.vu.idInInstance, exec.scenario.iterationInTest, exec.scenario.iterationInInstance); }
