import { odd } from './odd.js';
export const even = (n) => (n === 0 ? true : odd(n - 1));
