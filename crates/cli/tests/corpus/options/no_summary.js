// args: --no-summary
// stdout: same
// differs metrics: --summary-export is obeyed all the same
// No summary on the screen.
export default function () {}
