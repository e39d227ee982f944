// What k6 1.1 has not, a script may bring itself.
globalThis.atob = globalThis.atob || ((text) => `mine:${text}`);
export default function () { console.log(typeof globalThis.atob); }
