// exit: 255
// differs exit: what setup throws or gives back wrongly is the script's mistake: 107
// What is no JSON cannot be handed over.
export function setup() { return { f: () => 1 }; }
export default function () { console.log('never'); }
