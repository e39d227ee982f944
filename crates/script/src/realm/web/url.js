// `URL` and `URLSearchParams`. The rules of URLs are native; this is their shape.
(function (native) {
  'use strict';
  const { parse, part, change, pairs, join } = native;
  const { defineProperty } = Object;
  const text = (value) => `${value}`.toWellFormed();
  const need = (args, count, what) => {
    if (args.length < count) throw new TypeError(`${what} needs ${count} argument${count > 1 ? 's' : ''}`);
  };
  let attach;

  class URLSearchParams {
    #pairs = [];
    #url = null;
    constructor(init = '') {
      if (init !== null && (typeof init === 'object' || typeof init === 'function')) {
        if (typeof init[Symbol.iterator] === 'function') {
          for (const pair of init) {
            const two = [...pair];
            if (two.length !== 2) throw new TypeError('URLSearchParams: each pair must have a name and a value');
            this.#pairs.push([text(two[0]), text(two[1])]);
          }
        } else {
          for (const key of Reflect.ownKeys(init)) {
            if (Object.getOwnPropertyDescriptor(init, key)?.enumerable) this.#pairs.push([text(key), text(init[key])]);
          }
        }
      } else {
        this.#pairs = pairs(text(init).replace(/^\?/, ''));
      }
    }
    static {
      attach = (params, url) => { params.#url = url; };
    }
    #changed() { this.#url?.(this.toString()); }
    // Called by the URL that it belongs to.
    static #reload(params, search) { params.#pairs = pairs(search); }
    static {
      const reload = (params, search) => URLSearchParams.#reload(params, search);
      attach.reload = reload;
    }
    get size() { return this.#pairs.length; }
    append(name, value) { need(arguments, 2, 'append()'); this.#pairs.push([text(name), text(value)]); this.#changed(); }
    delete(name, value) {
      need(arguments, 1, 'delete()');
      const [key, only] = [text(name), value === undefined ? undefined : text(value)];
      this.#pairs = this.#pairs.filter(([k, v]) => k !== key || (only !== undefined && v !== only));
      this.#changed();
    }
    get(name) { need(arguments, 1, 'get()'); const key = text(name); return this.#pairs.find(([k]) => k === key)?.[1] ?? null; }
    getAll(name) { need(arguments, 1, 'getAll()'); const key = text(name); return this.#pairs.filter(([k]) => k === key).map(([, v]) => v); }
    has(name, value) {
      need(arguments, 1, 'has()');
      const [key, only] = [text(name), value === undefined ? undefined : text(value)];
      return this.#pairs.some(([k, v]) => k === key && (only === undefined || v === only));
    }
    set(name, value) {
      need(arguments, 2, 'set()');
      const [key, one] = [text(name), text(value)];
      const first = this.#pairs.find(([k]) => k === key);
      if (first) {
        first[1] = one;
        this.#pairs = this.#pairs.filter((pair) => pair === first || pair[0] !== key);
      } else {
        this.#pairs.push([key, one]);
      }
      this.#changed();
    }
    sort() { this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)); this.#changed(); }
    forEach(callback, self) {
      if (typeof callback !== 'function') throw new TypeError('forEach() needs a function');
      for (const [key, value] of this) callback.call(self, value, key, this);
    }
    *entries() { for (let i = 0; i < this.#pairs.length; i++) yield [...this.#pairs[i]]; }
    *keys() { for (const [key] of this.entries()) yield key; }
    *values() { for (const [, value] of this.entries()) yield value; }
    [Symbol.iterator]() { return this.entries(); }
    toString() { return join(this.#pairs); }
    get [Symbol.toStringTag]() { return 'URLSearchParams'; }
  }

  class URL {
    #href;
    #params = null;
    constructor(url, base) {
      need(arguments, 1, 'URL');
      const href = base === undefined ? parse(text(url)) : parse(text(url), text(base));
      if (href === undefined || href === null) {
        throw new TypeError(`Invalid URL: '${text(url)}'${base === undefined ? '' : ` with the base '${text(base)}'`}`);
      }
      this.#href = href;
    }
    static canParse(url, base) {
      return typeof (base === undefined ? parse(text(url)) : parse(text(url), text(base))) === 'string';
    }
    static parse(url, base) { return URL.canParse(url, base) ? new URL(url, base) : null; }
    #set(name, value) {
      this.#href = change(this.#href, name, text(value));
      if (name === 'search' && this.#params) attach.reload(this.#params, part(this.#href, 'search').slice(1));
    }
    static #define() {
      for (const name of ['protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash']) {
        defineProperty(URL.prototype, name, {
          get() { return part(this.#href, name); },
          set(value) { this.#set(name, value); },
          enumerable: true,
          configurable: true,
        });
      }
    }
    static { URL.#define(); }
    get href() { return this.#href; }
    set href(value) {
      const href = parse(text(value));
      if (typeof href !== 'string') throw new TypeError(`Invalid URL: '${text(value)}'`);
      this.#href = href;
      if (this.#params) attach.reload(this.#params, part(href, 'search').slice(1));
    }
    get origin() { return part(this.#href, 'origin'); }
    get searchParams() {
      if (!this.#params) {
        this.#params = new URLSearchParams(part(this.#href, 'search'));
        attach(this.#params, (search) => { this.#href = change(this.#href, 'search', search); });
      }
      return this.#params;
    }
    toString() { return this.#href; }
    toJSON() { return this.#href; }
    get [Symbol.toStringTag]() { return 'URL'; }
  }
  for (const name of ['href', 'origin', 'searchParams', 'toString', 'toJSON']) {
    defineProperty(URL.prototype, name, { enumerable: true });
  }
  return { URL, URLSearchParams };
})
