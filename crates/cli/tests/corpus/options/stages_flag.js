// args: --stage 1s:1
// A ramp by flag.
import { sleep } from 'k6';
export const options = { iterations: 100 };
export default function () { sleep(0.7); }
