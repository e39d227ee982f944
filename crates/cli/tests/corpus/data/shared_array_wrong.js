// exit: 107
// Not an array.
import { SharedArray } from 'k6/data';
new SharedArray('wrong', () => ({ a: 1 }));
export default function () {}
