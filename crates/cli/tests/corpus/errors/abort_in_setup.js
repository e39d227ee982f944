// exit: 108
import exec from 'k6/execution';
export function setup() { exec.test.abort('no setup'); }
export default function () { console.log('never'); }
export function teardown() { console.log('teardown'); }
