// exit: 107
// open() in a module: k6 1.1 reads relative to the module in which open() stands.
import { text } from './with/lib/reader.js';
export default function () { console.log(text.trim()); }
