// args: -i 100 -d 1s
// Whichever comes first.
import { sleep } from 'k6';
export default function () { sleep(0.4); }
