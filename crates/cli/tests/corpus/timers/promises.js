// Promises alone: order and chains.
export default async function () {
  Promise.resolve(1).then((n) => console.log('then', n)).finally(() => console.log('finally'));
  queue('micro');
  console.log('sync');
  await null;
  console.log('after await');
  try { await Promise.reject(new Error('no')); } catch (error) { console.log('caught', error.message); }
  console.log(await Promise.any([Promise.reject(1), Promise.resolve(2)]));
}
function queue(text) { Promise.resolve().then(() => console.log(text)); }
