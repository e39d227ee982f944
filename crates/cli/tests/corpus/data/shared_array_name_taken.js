// The first function of a name makes the array; later ones are not called.
import { SharedArray } from 'k6/data';
const one = new SharedArray('same', () => [1, 2, 3]);
const two = new SharedArray('same', () => { throw new Error('is not called'); });
export default function () { console.log(one.length, two.length, two[2]); }
