// exit: 107
// A bare name that leads nowhere.
import x from 'no-such-library';
export default function () { x(); }
