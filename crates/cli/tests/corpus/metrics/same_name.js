// One name, one metric; of another type it is an error.
import { Counter, Trend } from 'k6/metrics';
const one = new Counter('shared_name');
const two = new Counter('shared_name');
let refused = false;
try { new Trend('shared_name'); } catch (error) { refused = true; }
export default function () { one.add(1); two.add(2); console.log(refused); }
