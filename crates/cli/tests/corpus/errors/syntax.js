// exit: 107
// What does not parse.
export default function () { const = 5; }
