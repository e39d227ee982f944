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

  // What it calls runs behind the jobs that are there; what that throws ends the iteration, as a lost rejection does.
  const settled = Promise.resolve();
  const then = settled.then;
  const { apply } = Reflect;
  globalThis.queueMicrotask = function queueMicrotask(callback) {
    if (typeof callback !== 'function') throw new TypeError('queueMicrotask() needs a function to call');
    apply(then, settled, [() => { callback(); }]);
  };
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

  // The namespace of a CommonJS module that has run: as in k6, `default` is what it exports under that name, else all.
  const fill = (space, exported) => {
    if (exported !== null && (typeof exported === 'object' || typeof exported === 'function')) {
      for (const key of keys(exported)) set(space, key, exported[key]);
    }
    if (!hasOwn(space, 'default')) set(space, 'default', exported);
    preventExtensions(space);
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
    // Makes the function that starts a user: it runs the init code and returns what the script exports, or a promise of
    // it where a module waits outside of its functions. Of a module: `factory`, `imports` (where each leads: a number is
    // a module, a text one of k6), `meta`, `kind`, `needs`, `leads` (where names in calls lead), `nowhere` (what is said
    // of those that lead nowhere). `locate` finds names that no text of the module has; `enter` is told whose code runs,
    // since a path given to `open` is relative to its module, and gives who ran before.
    starter(plans, modules, entry, locate, enter) {
      const awaits = plans.some((plan) => plan.kind === 'awaiting');
      return () => {
        const spaces = [];
        const builtins = create(null);
        const running = [];
        const begun = [];
        const common = [];
        let isInit = true;

        const give = (from) =>
          typeof from === 'number' ? spaces[from] : (builtins[from] ??= builtinSpace(modules[from]));
        // What must run after the modules that it needs, or the promise of one that waits.
        const step = (i) => {
          const before = enter(i);
          let turn;
          try { turn = running[i].next(); } finally { enter(before); }
          if (plans[i].kind === 'common') fill(spaces[i], common[i].exports);
          return turn;
        };
        const run = (i) => {
          if (begun[i]) return;
          begun[i] = true;
          for (const need of plans[i].needs) run(need);
          step(i);
        };
        const runWaiting = async (i) => {
          if (begun[i]) return;
          begun[i] = true;
          for (const need of plans[i].needs) await runWaiting(need);
          if (plans[i].kind === 'awaiting') await step(i); else step(i);
        };
        const waits = (i, seen = []) => {
          if (seen[i] || begun[i]) return false;
          seen[i] = true;
          return plans[i].kind === 'awaiting' || plans[i].needs.some((need) => waits(need, seen));
        };
        const lead = (i, name) => {
          const { leads, nowhere } = plans[i];
          if (hasOwn(leads, name)) return leads[name];
          if (hasOwn(nowhere, name)) throw new Error(nowhere[name]);
          return locate(i, name);
        };
        const requiring = (i) => function require(name) {
          if (!isInit) throw new Error(`require(${stringify(name)}) is only possible in the init code, outside of the functions that run for each iteration`);
          if (typeof name !== 'string' || name === '') throw new TypeError('require() needs the name of a module: a text');
          const to = lead(i, name);
          if (typeof to === 'number') {
            if (waits(to)) throw new Error(`require(${stringify(name)}): the module uses \`await\` outside of its functions: use import`);
            run(to);
            if (plans[to].kind === 'common') return common[to].exports;
          }
          return give(to);
        };
        const importing = (i) => async (name) => {
          const to = lead(i, `${name}`);
          if (typeof to === 'number') await runWaiting(to);
          return give(to);
        };

        for (let i = 0; i < plans.length; i++) spaces[i] = create(null);
        for (let i = 0; i < plans.length; i++) {
          const { factory, imports, meta, kind } = plans[i];
          if (kind === 'common') {
            const module = common[i] = { exports: {} };
            running[i] = factory.call(module.exports, requiring(i), module, module.exports, importing(i));
          } else {
            const exporting = (name, get) => { defineProperty(spaces[i], name, { get, enumerable: true }); };
            // Few modules ask for others in calls: those have parameters for it.
            const asks = factory.length > 3;
            const [dynamic, require] = asks ? [importing(i), requiring(i)] : [];
            running[i] = factory.call(undefined, (k) => give(imports[k]), exporting, meta, dynamic, require);
          }
        }
        for (let i = 0; i < running.length; i++) running[i].next();
        for (let i = 0; i < spaces.length; i++) if (plans[i].kind !== 'common') preventExtensions(spaces[i]);
        const done = () => {
          isInit = false;
          return plans[entry].kind === 'common' ? common[entry].exports : spaces[entry];
        };
        if (awaits) return runWaiting(entry).then(done);
        run(entry);
        return done();
      };
    },

    // Replaces what the scenario before has put over `__ENV`.
    overlay(before, now) {
      const env = globalThis.__ENV;
      for (const key of keys(before)) if (hasOwn(native.env, key)) env[key] = native.env[key]; else delete env[key];
      assign(env, now);
    },

    // Gives the script's `options` what is different in this run. A script that froze them keeps what it wrote.
    assign(options, changes) {
      try { assign(options, changes); } catch {}
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
