// order: any
// Several at once: exec, env, tags and startTime of each.
import { Counter } from 'k6/metrics';
import exec from 'k6/execution';
const counter = new Counter('ran');
export const options = {
  scenarios: {
    one: { executor: 'shared-iterations', vus: 1, iterations: 2, exec: 'first', env: { WHO: 'first one' }, tags: { team: 'red' } },
    two: { executor: 'per-vu-iterations', vus: 2, iterations: 1, exec: 'second', env: { WHO: 'second one' }, tags: { team: 'blue' }, startTime: '500ms' },
  },
  thresholds: { 'ran{team:red}': ['count==2'], 'ran{team:blue}': ['count==2'], 'ran{scenario:one}': ['count==2'], 'iterations{scenario:two}': ['count==2'] },
};
export function first() { counter.add(1); console.log('1', __ENV.WHO, exec.scenario.name); }
export function second() { counter.add(1); console.log('2', __ENV.WHO, exec.scenario.name, exec.vu.iterationInScenario); }
export default function () { console.log('never'); }
