// An exception in a callback ends the iteration.
export const options = { iterations: 2 };
export default function () {
  setTimeout(() => { throw new Error(`in a timer ${__ITER}`); }, 5);
  setTimeout(() => console.log('not reached'), 100);
}
