// environment: K6_VUS=2 K6_ITERATIONS=4
// Variables are stronger than the script.
export const options = { iterations: 1 };
export default function () {}
