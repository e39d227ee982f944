// No setup at all.
export default function (...given) { console.log(given.length, given[0]); }
export function teardown(data) { console.log(data); }
