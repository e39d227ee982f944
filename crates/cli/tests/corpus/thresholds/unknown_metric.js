// exit: 104
// A metric that nobody makes.
export const options = { thresholds: { no_such_metric: ['count<1'] } };
export default function () {}
