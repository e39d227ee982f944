// environment: K6_STAGES=1s:1
// Stages by variable.
import { sleep } from 'k6';
export default function () { sleep(0.7); }
