// The exported object shows what became of the options.
// args: --tag a=b
export const options = { iterations: 2, discardResponseBodies: true };
export default function () { if (__ITER === 0) console.log(options.discardResponseBodies, JSON.stringify(options.tags), options.iterations, typeof options.scenarios); }
