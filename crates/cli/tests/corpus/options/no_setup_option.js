// The same as options of the script.
export const options = { noSetup: true, noTeardown: true };
export function setup() { console.log('setup'); return 1; }
export default function (data) { console.log('default', data); }
export function teardown() { console.log('teardown'); }
