// exit: 104
// A text where a number belongs.
export const options = { vus: 'many', duration: '1s' };
export default function () {}
