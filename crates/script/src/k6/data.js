// `k6/data`: arrays that exist once for all users. An element is parsed and frozen each time it is looked at.
(function (load) {
  'use strict';
  const { freeze, keys } = Object;
  const { parse, stringify } = JSON;
  const isIndex = (key) => typeof key === 'string' && /^(0|[1-9][0-9]*)$/.test(key);
  const deepFreeze = (value) => {
    if (typeof value === 'object' && value !== null) {
      for (const key of keys(value)) deepFreeze(value[key]);
      freeze(value);
    }
    return value;
  };
  const refuse = () => { throw new TypeError('SharedArray is immutable'); };
  const handler = (length, element) => ({
    get(target, key, receiver) {
      if (isIndex(key)) return Number(key) < length ? deepFreeze(parse(element(Number(key)))) : undefined;
      return key === 'length' ? length : Reflect.get(target, key, receiver);
    },
    has: (target, key) => (isIndex(key) ? Number(key) < length : key in target),
    ownKeys: () => [...Array(length).keys()].map(String).concat('length'),
    getOwnPropertyDescriptor(target, key) {
      if (!isIndex(key)) return Reflect.getOwnPropertyDescriptor(target, key);
      if (Number(key) >= length) return undefined;
      return { value: this.get(target, key), configurable: true, enumerable: true, writable: true };
    },
    set: refuse, deleteProperty: refuse, defineProperty: refuse, setPrototypeOf: refuse, preventExtensions: refuse,
  });
  class SharedArray {
    constructor(name, make) {
      const { length, element } = load(name, () => {
        if (typeof make !== 'function') throw new TypeError('new SharedArray() needs a name and a function');
        const made = make();
        if (made instanceof Promise) throw new TypeError('the function of a SharedArray cannot be async: it must return an array');
        if (!Array.isArray(made)) throw new TypeError('only an array can be made into a SharedArray');
        return made.map((value) => stringify(value) ?? 'null');
      });
      const target = [];
      target.length = length;
      return new Proxy(target, handler(length, element));
    }
  }
  return { SharedArray };
})
