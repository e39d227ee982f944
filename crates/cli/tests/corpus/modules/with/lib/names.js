export default function () { return 'default'; }
export const second = 'second';
export let count = 0;
export function increase() { count += 1; }
export * from './more.js';
