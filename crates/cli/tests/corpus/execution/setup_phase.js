// In setup and teardown.
import exec from 'k6/execution';
const tried = (call) => { try { return call(); } catch (error) { return 'refused'; } };
const show = (phase) => console.log(phase, exec.vu.idInTest, tried(() => exec.scenario.name), tried(() => exec.instance.iterationsCompleted), tried(() => exec.vu.iterationInScenario));
export function setup() { show('setup'); }
export default function () {}
export function teardown() { show('teardown'); }
