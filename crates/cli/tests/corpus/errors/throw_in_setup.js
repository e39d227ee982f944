// exit: 107
// No iteration runs.
export function setup() { console.log('setup'); throw new Error('in setup'); }
export default function () { console.log('never'); }
export function teardown() { console.log('teardown'); }
