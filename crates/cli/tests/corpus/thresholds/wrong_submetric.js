// exit: 104
// A submetric of a metric that nobody makes.
export const options = { thresholds: { 'no_such_metric{a:b}': ['count<1'] } };
export default function () {}
