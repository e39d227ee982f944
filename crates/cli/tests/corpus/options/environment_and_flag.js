// environment: K6_ITERATIONS=4
// args: --iterations 3
// Flags are stronger than variables.
export default function () {}
