// describe() and expect() as the documentation of k6chaijs has them: each assertion is a check, the first that fails ends
// its describe(). The words are those of chai's BDD style.
import { check, group } from 'k6';

export const config = { truncateVariableThreshold: 100, truncateMsgThreshold: 300, aggregateChecks: true, logFailures: false, exitOnError: false };
export const chai = { config, use() { throw new Error('k6chaijs: chai.use() is not supported by the built-in equivalent of this library'); } };

export class AssertionError extends Error {
  constructor(message, details) { super(message); this.name = 'AssertionError'; Object.assign(this, details); }
}

const kindOf = (value) => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  const name = Object.prototype.toString.call(value).slice(8, -1);
  return typeof value === 'object' ? name.toLowerCase() : typeof value;
};

const cut = (text, length) => text.length > length ? `${text.slice(0, length)}...` : text;

function shown(value) {
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value === 'function') return value.name ? `[Function: ${value.name}]` : '[Function]';
  if (value instanceof RegExp || value instanceof Error || typeof value === 'symbol') return String(value);
  if (value === null || typeof value !== 'object') return Object.is(value, -0) ? '-0' : String(value);
  try { return JSON.stringify(value); } catch { return '[object]'; }
}

function same(a, b, pairs = []) {
  if (Object.is(a, b) || (a === b && a === 0)) return true;
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object' || kindOf(a) !== kindOf(b)) return false;
  if (pairs.some(([x, y]) => x === a && y === b)) return true;
  pairs = [...pairs, [a, b]];
  if (a instanceof Date) return Object.is(a.getTime(), b.getTime());
  if (a instanceof RegExp) return String(a) === String(b);
  if (a instanceof Map || a instanceof Set) return same([...a], [...b], pairs);
  if (a instanceof ArrayBuffer) return same([...new Uint8Array(a)], [...new Uint8Array(b)], pairs);
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key], pairs));
}

const at = (value, path) => path.replace(/\[(\d+)\]/g, '.$1').replace(/^\./, '').split('.').reduce((inner, key) => inner?.[key], value);

export class Assertion {
  #value; #label; #flags;

  constructor(value, label, flags = {}) { this.#value = value; this.#label = label; this.#flags = flags; }

  get #subject() { return this.#label ?? cut(shown(this.#value), config.truncateVariableThreshold); }
  with_(flags, value = this.#value, label = this.#label) { return new Assertion(value, label, { ...this.#flags, ...flags }); }

  #test(isTrue, words, message) {
    const isRight = this.#flags.not ? !isTrue : isTrue;
    const text = cut(`expected ${this.#subject} to ${this.#flags.not ? 'not ' : ''}${words}`, config.truncateMsgThreshold);
    check(null, { [text]: isRight });
    if (!isRight) {
      const got = this.#label === undefined ? '' : `, it is ${cut(shown(this.#value), config.truncateVariableThreshold)}`;
      throw new AssertionError(message ? `${message}: ${text}${got}` : text + got, { actual: this.#value });
    }
    return this;
  }

  get not() { return this.with_({ not: true }); }
  get deep() { return this.with_({ deep: true }); }
  get nested() { return this.with_({ nested: true }); }
  get own() { return this.with_({ own: true }); }
  get any() { return this.with_({ any: true, all: false }); }
  get all() { return this.with_({ all: true, any: false }); }

  get ok() { return this.#test(Boolean(this.#value), 'be truthy'); }
  get true() { return this.#test(this.#value === true, 'be true'); }
  get false() { return this.#test(this.#value === false, 'be false'); }
  get null() { return this.#test(this.#value === null, 'be null'); }
  get undefined() { return this.#test(this.#value === undefined, 'be undefined'); }
  get NaN() { return this.#test(Number.isNaN(this.#value), 'be NaN'); }
  get exist() { return this.#test(this.#value !== null && this.#value !== undefined, 'exist'); }
  get exists() { return this.exist; }
  get finite() { return this.#test(Number.isFinite(this.#value), 'be a finite number'); }
  get extensible() { return this.#test(Object.isExtensible(this.#value), 'be extensible'); }
  get sealed() { return this.#test(Object.isSealed(this.#value), 'be sealed'); }
  get frozen() { return this.#test(Object.isFrozen(this.#value), 'be frozen'); }
  get empty() {
    const value = this.#value;
    const size = value instanceof Map || value instanceof Set ? value.size : typeof value === 'string' || Array.isArray(value) ? value.length : Object.keys(Object(value)).length;
    return this.#test(size === 0, 'be empty');
  }

  equal(other, message) { return this.#flags.deep ? this.eql(other, message) : this.#test(this.#value === other, `equal ${shown(other)}`, message); }
  eql(other, message) { return this.#test(same(this.#value, other), `deeply equal ${shown(other)}`, message); }
  above(limit, message) { return this.#test(this.#size > limit, `be above ${shown(limit)}`, message); }
  least(limit, message) { return this.#test(this.#size >= limit, `be at least ${shown(limit)}`, message); }
  below(limit, message) { return this.#test(this.#size < limit, `be below ${shown(limit)}`, message); }
  most(limit, message) { return this.#test(this.#size <= limit, `be at most ${shown(limit)}`, message); }
  within(low, high, message) { return this.#test(this.#size >= low && this.#size <= high, `be within ${shown(low)}..${shown(high)}`, message); }
  closeTo(other, delta, message) { return this.#test(Math.abs(this.#value - other) <= delta, `be close to ${other} +/- ${delta}`, message); }
  instanceof(type, message) { return this.#test(this.#value instanceof type, `be an instance of ${type.name}`, message); }
  match(pattern, message) { return this.#test(pattern.test(this.#value), `match ${pattern}`, message); }
  string(part, message) { return this.#test(typeof this.#value === 'string' && this.#value.includes(part), `contain ${shown(part)}`, message); }
  satisfy(test, message) { return this.#test(Boolean(test(this.#value)), `satisfy ${shown(test)}`, message); }
  oneOf(list, message) { return this.#test(list.some((one) => this.#flags.deep ? same(one, this.#value) : one === this.#value), `be one of ${shown(list)}`, message); }
  lengthOf(length, message) { return this.#test((this.#value?.length ?? this.#value?.size) === length, `have a length of ${length}`, message); }
  get #size() { return this.#flags.length ? this.#value?.length ?? this.#value?.size : this.#value; }

  property(name, ...rest) {
    const found = this.#flags.nested ? at(this.#value, name) : this.#value?.[name];
    const isThere = this.#flags.nested ? found !== undefined : this.#value !== null && this.#value !== undefined
      && (this.#flags.own ? Object.hasOwn(this.#value, name) : name in Object(this.#value));
    const words = rest.length === 0 ? `have property ${shown(name)}` : `have property ${shown(name)} of ${shown(rest[0])}`;
    this.#test(isThere && (rest.length === 0 || (this.#flags.deep ? same(found, rest[0]) : found === rest[0])), words, rest[1]);
    return new Assertion(found, this.#label === undefined ? undefined : `${this.#label}.${name}`, {});
  }

  keys(...names) {
    const wanted = Array.isArray(names[0]) ? names[0] : names.length === 1 && typeof names[0] === 'object' ? Object.keys(names[0]) : names;
    const own = this.#value instanceof Map || this.#value instanceof Set ? [...this.#value.keys()] : Object.keys(Object(this.#value));
    const there = wanted.filter((name) => own.includes(name));
    const isTrue = this.#flags.any ? there.length > 0 : there.length === wanted.length && (this.#flags.contain || own.length === wanted.length);
    return this.#test(isTrue, `have ${this.#flags.any ? 'any of the ' : ''}keys ${wanted.map(shown).join(', ')}`);
  }

  members(list, message) {
    const equal = (a, b) => this.#flags.deep ? same(a, b) : a === b;
    const rest = [...this.#value];
    const isIn = list.every((wanted) => {
      const place = rest.findIndex((one) => equal(one, wanted));
      if (place >= 0) rest.splice(place, 1);
      return place >= 0;
    });
    return this.#test(isIn && (this.#flags.contain || rest.length === 0), `have the members ${shown(list)}`, message);
  }

  throw(type, pattern, message) {
    let thrown, isThrown = false;
    try { this.#value(); } catch (error) { [thrown, isThrown] = [error, true]; }
    if (typeof type === 'string' || type instanceof RegExp) [type, pattern] = [undefined, type];
    const fits = (type === undefined || (typeof type === 'function' ? thrown instanceof type : thrown === type))
      && (pattern === undefined || (pattern instanceof RegExp ? pattern.test(thrown?.message) : String(thrown?.message).includes(pattern)));
    return this.#test(isThrown && fits, `throw ${type?.name ?? 'an error'}${pattern === undefined ? '' : ` with ${shown(pattern)}`}`, message);
  }

  respondTo(name) { return this.#test(typeof (typeof this.#value === 'function' ? this.#value.prototype?.[name] ?? this.#value[name] : this.#value?.[name]) === 'function', `respond to ${shown(name)}`); }

  // k6chaijs: a response whose body is JSON.
  validJsonBody() {
    let isJson = true;
    try { JSON.parse(this.#value.body); } catch { isJson = false; }
    return this.#test(isJson, 'have a valid json body');
  }

  a(type, message) { return this.#test(kindOf(this.#value) === type.toLowerCase(), `be ${/^[aeiou]/i.test(type) ? 'an' : 'a'} ${type}`, message); }
  include(part, message) {
    const value = this.#value;
    const equal = (a, b) => this.#flags.deep ? same(a, b) : a === b;
    const isIn = typeof value === 'string' ? value.includes(part)
      : Array.isArray(value) || value instanceof Set ? [...value].some((one) => equal(one, part))
        : value instanceof Map ? [...value.values()].some((one) => equal(one, part))
          : Object.keys(part).every((key) => this.#flags.nested ? equal(at(value, key), part[key]) : equal(value?.[key], part[key]));
    return this.#test(isIn, `include ${shown(part)}`, message);
  }
}

const define = (name, get) => Object.defineProperty(Assertion.prototype, name, { get, configurable: true });
for (const word of ['to', 'be', 'been', 'is', 'that', 'which', 'and', 'has', 'have', 'with', 'at', 'of', 'same', 'but', 'does', 'still', 'also']) define(word, function () { return this; });
// Words that are both: part of a sentence, and a function.
const both = (name, method, flags) => define(name, function () {
  const next = this.with_(flags);
  return new Proxy(function () {}, {
    apply: (_, __, all) => this[method](...all),
    get: (_, key) => { const found = next[key]; return typeof found === 'function' ? found.bind(next) : found; },
  });
});
const [isA, hasPart, hasLength] = [Assertion.prototype.a, Assertion.prototype.include, Assertion.prototype.lengthOf];
Object.assign(Assertion.prototype, { isA, hasPart, hasLength });
for (const name of ['a', 'an']) both(name, 'isA', {});
for (const name of ['include', 'includes', 'contain', 'contains']) both(name, 'hasPart', { contain: true });
for (const name of ['length', 'lengthOf']) both(name, 'hasLength', { length: true });
const ALIASES = { equals: 'equal', eq: 'equal', eqls: 'eql', gt: 'above', greaterThan: 'above', gte: 'least', greaterThanOrEqual: 'least', lt: 'below', lessThan: 'below', lte: 'most', lessThanOrEqual: 'most', instanceOf: 'instanceof', approximately: 'closeTo', matches: 'match', key: 'keys', throws: 'throw', Throw: 'throw', satisfies: 'satisfy', haveOwnProperty: 'property', ownProperty: 'property' };
for (const [alias, name] of Object.entries(ALIASES)) Assertion.prototype[alias] = Assertion.prototype[name];

// A word that chai does not have, or that is not here, must not pass in silence.
const guarded = (assertion) => new Proxy(assertion, {
  get(target, key) {
    if (typeof key === 'string' && !(key in target)) throw new Error(`k6chaijs: '${key}' is not supported by the built-in equivalent of this library`);
    const found = Reflect.get(target, key, target);
    if (found instanceof Assertion) return guarded(found);
    if (typeof found !== 'function' || key === 'with_' || key === 'constructor') return found;
    return new Proxy(found, {
      apply: (method, _, all) => { const result = Reflect.apply(method, target, all); return result instanceof Assertion ? guarded(result) : result; },
      get: (method, inner) => { const part = method[inner]; return part instanceof Assertion ? guarded(part) : part; },
    });
  },
});

export function expect(value, label) { return guarded(new Assertion(value, label)); }
expect.fail = (message = 'expect.fail()') => { check(null, { [message]: false }); throw new AssertionError(message); };
chai.expect = expect;

// Runs a part of a test as a group. Gives whether all went well.
export function describe(name, body) {
  let isFine = true;
  const caught = (error) => {
    isFine = false;
    if (error?.name === 'AssertionError') {
      if (config.logFailures) console.warn(`${name}: ${error.message}`);
    } else {
      check(null, { [`Exception raised "${error?.message ?? error}"`]: false });
      console.error(`${name}: exception raised: ${error?.stack ? `${error}\n${error.stack}` : error}`);
      if (config.exitOnError) throw error;
    }
    return false;
  };
  if (body.constructor.name === 'AsyncFunction') return body().then(() => true, caught);
  group(name, () => { try { body(); } catch (error) { caught(error); } });
  return isFine;
}

export default { describe, expect, chai, config, Assertion, AssertionError };
