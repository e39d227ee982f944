// exit: 101
// A teardown that takes too long.
import { sleep } from 'k6';
export const options = { teardownTimeout: 300 };
export default function () { console.log('ran'); }
export function teardown() { sleep(5); }
