// Exceptions end iterations, which count all the same.
export const options = { iterations: 3 };
export default function () {
  if (__ITER === 1) throw new Error('the second one');
  console.log('through', __ITER);
}
