// UUIDs as the package `uuid` names them. Versions that hash a name need k6/crypto and are not here.

const PATTERN = /^(?:[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|0{8}-(?:0{4}-){3}0{12}|f{8}-(?:f{4}-){3}f{12})$/i;
export const NIL = '00000000-0000-0000-0000-000000000000';
export const MAX = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

function random(options) {
  if (options?.random) return Uint8Array.from(options.random);
  if (options?.rng) return Uint8Array.from(options.rng());
  const bytes = new Uint8Array(16);
  if (typeof crypto !== 'undefined' && crypto.getRandomValues) return crypto.getRandomValues(bytes);
  for (let i = 0; i < 16; i++) bytes[i] = Math.random() * 256;
  return bytes;
}

export function validate(text) { return typeof text === 'string' && PATTERN.test(text); }

export function version(text) {
  if (!validate(text)) throw new TypeError('Invalid UUID');
  return parseInt(text[14], 16);
}

export function stringify(bytes, offset = 0) {
  const hex = Array.from({ length: 16 }, (_, i) => bytes[offset + i].toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

export function parse(text) {
  if (!validate(text)) throw new TypeError('Invalid UUID');
  return Uint8Array.from(text.replace(/-/g, '').match(/../g), (pair) => parseInt(pair, 16));
}

function finish(bytes, number, buffer, offset = 0) {
  bytes[6] = (bytes[6] & 15) | (number << 4);
  bytes[8] = (bytes[8] & 63) | 128;
  if (!buffer) return stringify(bytes);
  for (let i = 0; i < 16; i++) buffer[offset + i] = bytes[i];
  return buffer;
}

export function v4(options, buffer, offset) { return finish(random(options), 4, buffer, offset); }

let lastTime = 0, counter = 0;
const EPOCH_100NS = 122192928000000000n;

// The time first, in 100 ns since 1582, then a node that is random.
function timed(options) {
  const ms = options?.msecs ?? Date.now();
  counter = ms === lastTime ? counter + 1 : 0;
  lastTime = ms;
  return BigInt(ms) * 10000n + BigInt(options?.nsecs ?? counter) + EPOCH_100NS;
}

export function v1(options, buffer, offset) {
  const bytes = random(options), ticks = timed(options);
  const put = (at, value, count) => { for (let i = 0; i < count; i++) bytes[at + i] = Number((value >> BigInt(8 * (count - 1 - i))) & 255n); };
  put(0, ticks & 0xffffffffn, 4);
  put(4, (ticks >> 32n) & 0xffffn, 2);
  put(6, (ticks >> 48n) & 0xfffn, 2);
  if (options?.clockseq !== undefined) { bytes[8] = options.clockseq >> 8; bytes[9] = options.clockseq & 255; }
  if (options?.node) bytes.set(options.node, 10); else bytes[10] |= 1;
  return finish(bytes, 1, buffer, offset);
}

export function v7(options, buffer, offset) {
  const bytes = random(options);
  const ms = BigInt(options?.msecs ?? Date.now());
  for (let i = 0; i < 6; i++) bytes[i] = Number((ms >> BigInt(8 * (5 - i))) & 255n);
  return finish(bytes, 7, buffer, offset);
}

const missing = (name) => function () { throw new Error(`uuid: ${name}() is not there: it is not supported by the built-in equivalent of this library; v1, v4 and v7 are`); };
export const v3 = missing('v3'), v5 = missing('v5'), v6 = missing('v6'), v8 = missing('v8');

export default Object.assign((...all) => v4(...all), { v1, v3, v4, v5, v6, v7, v8, NIL, MAX, validate, version, stringify, parse });
