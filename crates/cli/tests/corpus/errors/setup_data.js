// exit: 255
// What is no JSON cannot be handed over.
export function setup() { return { f: () => 1 }; }
export default function () { console.log('never'); }
