// exit: 107
// A module that is not there.
import { a } from './with/nowhere.js';
export default function () { a(); }
