// Only plain values can be tags.
import exec from 'k6/execution';
export default function () {
  const tried = [{}, [], null, undefined, () => 1].map((value) => {
    try { exec.vu.metrics.tags.bad = value; return 'taken'; } catch (error) { return error instanceof TypeError; }
  });
  exec.vu.metrics.tags.flag = true;
  console.log(tried.join(), exec.vu.metrics.tags.flag);
}
