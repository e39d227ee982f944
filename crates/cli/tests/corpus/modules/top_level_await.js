// await at the top.
const value = await Promise.resolve('awaited');
export default function () { console.log(value); }
