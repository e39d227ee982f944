// exit: 104
// No expression.
export const options = { thresholds: { checks: ['rate is high'] } };
export default function () {}
