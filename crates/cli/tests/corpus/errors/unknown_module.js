// exit: 107
// A module of k6 that nobody knows.
import x from 'k6/nothing';
export default function () { x(); }
