// exit: 255
// args: --no-such-flag
export default function () {}
