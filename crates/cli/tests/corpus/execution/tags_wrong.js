// Only plain values can be tags.
import exec from 'k6/execution';
export default function () {
  for (const value of [{}, [], null, undefined, () => 1]) {
    try { exec.vu.metrics.tags.bad = value; console.log('taken'); } catch (error) { console.log(error instanceof TypeError); }
  }
  exec.vu.metrics.tags.flag = true;
  console.log(exec.vu.metrics.tags.flag);
}
