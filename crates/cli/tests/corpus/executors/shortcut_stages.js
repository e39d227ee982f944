// The short way to ramping-vus.
import { sleep } from 'k6';
export const options = { vus: 2, stages: [{ duration: '1s', target: 2 }] };
export default function () { sleep(0.4); }
