// Code that every realm runs once, before any script: the start of users, `__ENV`, and what reaches into globals.
// Keeps the built-ins it uses, so that a script that changes them harms itself alone.
(function (native) {
  'use strict';
  const { assign, create, defineProperty, hasOwn, keys, preventExtensions } = Object;
  const { stringify } = JSON;
  const set = (object, name, value) =>
    defineProperty(object, name, { value, writable: true, configurable: true, enumerable: true });

  // Each user's own object, made when it is first looked at.
  defineProperty(globalThis, '__ENV', {
    configurable: true,
    enumerable: true,
    get() { const env = assign({}, native.env); set(globalThis, '__ENV', env); return env; },
    set(value) { set(globalThis, '__ENV', value); },
  });

  // Scripts made for Node.js look for it.
  defineProperty(globalThis, 'global', {
    configurable: true,
    enumerable: false,
    get() { return globalThis; },
    set(value) { set(globalThis, 'global', value); },
  });

  // The namespace of a k6 module for one user, who may change what it holds.
  const builtinSpace = (module) => {
    const own = assign({}, module);
    const space = create(own);
    set(space, 'default', own);
    return space;
  };

  // What the console shows of a value: objects as JSON, with words for what has none; errors and the rest as they are.
  const shown = (value) => {
    if (typeof value !== 'object' || value === null || value instanceof Error) return value;
    const above = [];
    try {
      return stringify(value, function (key, inner) {
        if (typeof inner === 'bigint') return `${inner}n`;
        if (typeof inner !== 'object' || inner === null) return inner;
        while (above.length > 0 && above.at(-1) !== this) above.pop();
        if (above.includes(inner)) return '[Circular]';
        above.push(inner);
        if (inner instanceof Error) return `${inner}`;
        if (!(inner instanceof Map || inner instanceof Set)) return inner;
        const list = [...inner];
        above.push(list);
        return list;
      });
    } catch {
      // What cannot be shown is no reason to end an iteration.
      return '[object Object]';
    }
  };

  return {
    // Makes the function that starts a user: it runs the init code and returns the namespace of the script.
    starter(factories, imports, modules, metas, entry) {
      return () => {
        const spaces = [];
        const builtins = create(null);
        const running = [];
        for (let i = 0; i < factories.length; i++) spaces[i] = create(null);
        for (let i = 0; i < factories.length; i++) {
          const importing = (k) => {
            const from = imports[i][k];
            return typeof from === 'number' ? spaces[from] : (builtins[from] ??= builtinSpace(modules[from]));
          };
          const exporting = (name, get) => { defineProperty(spaces[i], name, { get, enumerable: true }); };
          running[i] = factories[i].call(undefined, importing, exporting, metas[i]);
        }
        for (let i = 0; i < running.length; i++) running[i].next();
        for (let i = 0; i < spaces.length; i++) preventExtensions(spaces[i]);
        for (let i = 0; i < running.length; i++) running[i].next();
        return spaces[entry];
      };
    },

    // Replaces what the scenario before has put over `__ENV`.
    overlay(before, now) {
      const env = globalThis.__ENV;
      for (const key of keys(before)) if (hasOwn(native.env, key)) env[key] = native.env[key]; else delete env[key];
      assign(env, now);
    },

    // `console`: `log` takes a level and values, objects among them as texts.
    console(log) {
      const made = {};
      for (const level of ['log', 'info', 'debug', 'warn', 'error']) {
        made[level] = { [level](...values) { log(level, ...values.map(shown)); } }[level];
      }
      return made;
    },

    // Setup data as JSON: like k6, null where there is nothing, and an error for what is no data.
    encode(value) {
      return stringify(value, (key, inner) => {
        if (typeof inner === 'function') throw new TypeError(`setup() returned a function in '${key}', which is no data`);
        return inner === undefined && key !== '' ? null : inner;
      });
    },
  };
})
