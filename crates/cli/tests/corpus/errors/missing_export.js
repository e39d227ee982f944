// exit: 107
// A name that a module does not have.
import { there, missing } from './with/module.js';
export default function () { console.log(there, typeof missing); }
