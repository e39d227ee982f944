// And finds what lies beside it.
import { text } from './with/lib/reader-beside.js';
export default function () { console.log(text.trim()); }
