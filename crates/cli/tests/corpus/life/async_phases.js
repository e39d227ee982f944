// All phases may be async.
const later = (value) => new Promise((resolve) => resolve(value));
export async function setup() { return { token: await later('abc') }; }
export default async function (data) { console.log(await later(data.token)); }
export async function teardown(data) { console.log('teardown', await later(data.token)); }
