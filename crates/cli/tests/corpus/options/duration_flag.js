// args: --duration 1s --vus 2
// A flag wipes the script's scenarios.
import { sleep } from 'k6';
export const options = { scenarios: { never: { executor: 'shared-iterations', iterations: 99, exec: 'other' } } };
export function other() { console.log('never'); }
export default function () { sleep(0.6); }
