// Who and where.
import exec from 'k6/execution';
export const options = { scenarios: { mine: { executor: 'shared-iterations', vus: 1, iterations: 3, exec: 'go' } } };
export function go() {
  const { vu, scenario, instance } = exec;
  console.log(vu.idInTest, vu.idInInstance, vu.iterationInInstance, vu.iterationInScenario);
  console.log(scenario.name, scenario.executor, scenario.iterationInTest, scenario.iterationInInstance, scenario.progress >= 0 && scenario.progress <= 1);
  console.log(Math.abs(Date.now() - scenario.startTime) < 60000, instance.currentTestRunDuration >= 0, instance.vusActive, instance.vusInitialized);
  console.log(instance.iterationsCompleted, instance.iterationsInterrupted);
}
