// Waiting in async functions.
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
export const options = { iterations: 2 };
export default async function () {
  const begun = Date.now();
  await wait(30);
  console.log('waited', Date.now() - begun >= 29);
  const all = await Promise.all([wait(20).then(() => 'a'), wait(10).then(() => 'b')]);
  console.log(all.join(), await Promise.race([wait(40).then(() => 'slow'), wait(5).then(() => 'quick')]));
  console.log((await Promise.allSettled([Promise.reject(new Error('no')), 1])).map((one) => one.status).join());
}
