// order: any
// __VU and __ITER in each phase.
export const options = { iterations: 2 };
export function setup() { console.log('setup', __VU, typeof __ITER); }
export default function () { console.log('default', __VU, __ITER, typeof globalThis, typeof global); }
export function teardown() { console.log('teardown', __VU, typeof __ITER); }
