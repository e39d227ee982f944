// require beside import.
import { check } from 'k6';
const lib = require('./with/common.js');
export default function () { check(lib.add(1, 1), { two: (n) => n === 2 }); console.log(lib.name); }
