// differs console: a line that comes again and again is counted, so that it hides nothing else
// The same line often.
export const options = { iterations: 30 };
export default function () { console.log('the same'); }
