// Rejections that nobody handles.
export const options = { iterations: 2 };
export default async function () {
  if (__ITER === 0) throw new Error('rejected');
  console.log('fine');
}
