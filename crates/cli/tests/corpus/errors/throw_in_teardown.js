// exit: 107
// The run is over, but not fine.
export default function () { console.log('ran'); }
export function teardown() { throw new Error('in teardown'); }
