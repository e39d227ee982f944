// Waits in the middle of everything that calls back, and sums up what it sees: any mixture of users changes the sum.
import http from 'k6/http';
import { sleep, group } from 'k6';
let n = 0;
const log = [];
function fib(k) { if (k < 2) return k; if (k === 4) sleep(0); return fib(k - 1) + fib(k - 2); }
function* gen(k) { try { for (let i = 0; i < k; i++) { sleep(0); yield i * k; } } finally { n += 0; } }
class A { #x; static s = 0; constructor(x) { this.#x = x; sleep(0); A.s++; } get v() { sleep(0); return this.#x; } }
class B extends A { constructor(x) { super(x + 1); sleep(0); } }
async function later(k) {
  await null; sleep(0); await Promise.resolve(k);
  try { await Promise.reject(new Error('x')); } catch (e) { k += e.message.length; } finally { sleep(0); }
  return k * 2;
}
const deep = (k) => (k === 0 ? (sleep(0), 1) : 1 + deep(k - 1));
function host_error() {
  try { try { group('g', () => http.get('http://fail/', { throw: true })); return 1e9; } finally { n += 0; sleep(0); } } catch (e) {
    const frames = e.stack.split('\n').filter((line) => line.includes('at '));
    if (frames.length > 8 || !e.stack.includes('host_error')) throw new Error(`foreign frames: ${e.stack}`);
    return e.message.length + frames.length;
  }
}
export default async function () {
  n++;
  const id = __VU;
  let sum = id * 31 + fib(5 + ((n + id) % 3));
  sum += [3, 1, 2].map((x) => { sleep(0); return x * n; }).reduce((a, b) => a + b, 0);
  sum += [5, 3, 9, 1].sort((a, b) => { if (a === 9 || b === 9) sleep(0); return a - b; })[0];
  for (const v of gen(3)) { sum += v; if (v > 3) break; }
  sum += new B(n).v;
  sum += JSON.parse(JSON.stringify({ toJSON() { sleep(0); return { q: n }; } })).q;
  sum += host_error();
  'abc'.replace(/[a-c]/g, (c) => { sleep(0); sum += c.charCodeAt(0); return c; });
  sum += new Proxy({}, { get(t, k) { sleep(0); return k.length + n; } }).hello;
  const cycle = { big: new Array(10).fill(n) }; cycle.self = cycle; cycle.f = () => cycle;
  sum += deep((id + n) % 12);
  later(n).then((v) => { log.push(v); });
  sum += (await Promise.all([later(1), later(id)])).reduce((a, b) => a + b, 0);
  group('inner', () => { sum += http.get('http://h/' + id).json().id + A.s; });
  globalThis.counter = (globalThis.counter | 0) + 1;
  if (n !== globalThis.counter) throw new Error(`user ${id} has mixed globals: ${n} and ${globalThis.counter}`);
  sum += counter * 3 + log.length + log.reduce((a, b) => a + b, 0);
  console.log(`${id}/${__ITER}: ${sum}`);
}
