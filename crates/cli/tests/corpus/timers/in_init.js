// Before the run there are timers, too.
await new Promise((resolve) => setTimeout(resolve, 10));
export default function () { console.log('after'); }
