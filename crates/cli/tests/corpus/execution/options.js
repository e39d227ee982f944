// The options as the run has them.
import exec from 'k6/execution';
export const options = { iterations: 2, tags: { a: 'b' }, thresholds: { checks: ['rate>=0'] } };
export default function () {
  if (__ITER > 0) return;
  const all = exec.test.options;
  console.log(JSON.stringify(all.scenarios), JSON.stringify(all.tags), all.vus, all.iterations, JSON.stringify(all.thresholds), all.userAgent);
  try { all.paused = true; console.log('written', all.paused); } catch (error) { console.log('refused'); }
}
