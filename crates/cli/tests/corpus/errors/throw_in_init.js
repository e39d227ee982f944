// exit: 107
// An exception in the init code.
throw new Error('in init');
export default function () {}
