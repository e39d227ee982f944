// exit: 104
// A duration that is none.
export const options = { vus: 1, duration: 'soon' };
export default function () {}
