// `structuredClone` of what scripts hold: plain objects, arrays, maps, sets, dates, errors, buffers and their views.
(function () {
  'use strict';
  const ERRORS = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
  const refuse = (value) => {
    const what = typeof value === 'object' ? Object.prototype.toString.call(value) : typeof value;
    throw new DOMException(`structuredClone: ${what} cannot be cloned`, 'DataCloneError');
  };
  const kind = (value) => Object.prototype.toString.call(value).slice(8, -1);

  const copy = (value, seen) => {
    if (typeof value === 'symbol' || typeof value === 'function') refuse(value);
    if (typeof value !== 'object' || value === null) return value;
    if (seen.has(value)) return seen.get(value);
    const keep = (made) => { seen.set(value, made); return made; };
    if (ArrayBuffer.isView(value)) {
      const buffer = copy(value.buffer, seen);
      const length = value instanceof DataView ? value.byteLength : value.length;
      return keep(new value.constructor(buffer, value.byteOffset, length));
    }
    if (value instanceof ArrayBuffer) return keep(value.slice(0));
    if (value instanceof Date) return keep(new Date(value.getTime()));
    if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
    if (value instanceof Boolean || value instanceof Number || value instanceof String || value instanceof BigInt) return keep(Object(value.valueOf()));
    if (value instanceof Map) {
      const made = keep(new Map());
      for (const [key, inner] of [...value]) made.set(copy(key, seen), copy(inner, seen));
      return made;
    }
    if (value instanceof Set) {
      const made = keep(new Set());
      for (const inner of [...value]) made.add(copy(inner, seen));
      return made;
    }
    if (value instanceof Error) {
      const made = keep(new (ERRORS[value.name] ?? Error)(value.message));
      if ('stack' in value) Object.defineProperty(made, 'stack', { value: value.stack, writable: true, configurable: true });
      if ('cause' in value) Object.defineProperty(made, 'cause', { value: copy(value.cause, seen), writable: true, configurable: true });
      return made;
    }
    if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet || value instanceof WeakRef) refuse(value);
    if (!['Object', 'Array', 'Arguments'].includes(kind(value)) && value.constructor !== Object) refuse(value);
    const made = keep(Array.isArray(value) ? new Array(value.length) : {});
    for (const key of Object.keys(value)) made[key] = copy(value[key], seen);
    return made;
  };

  function structuredClone(value, options) {
    if (arguments.length === 0) throw new TypeError('structuredClone needs a value');
    const transfer = options?.transfer === undefined ? [] : [...options.transfer];
    const seen = new Map();
    for (const buffer of transfer) {
      if (!(buffer instanceof ArrayBuffer)) refuse(buffer);
      if (seen.has(buffer)) throw new DOMException('structuredClone: a buffer is transferred twice', 'DataCloneError');
      seen.set(buffer, buffer.slice(0));
    }
    const made = copy(value, seen);
    for (const buffer of transfer) buffer.transfer();
    return made;
  }
  return { structuredClone };
})
