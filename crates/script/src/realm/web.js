// Globals that are made when somebody first looks at one of them.
(function (names, make) {
  'use strict';
  const { defineProperty } = Object;
  const shared = globalThis;
  const set = (object, name, value) =>
    defineProperty(object, name, { value, writable: true, configurable: true, enumerable: false });
  for (const name of names) {
    defineProperty(shared, name, {
      configurable: true,
      enumerable: false,
      get() {
        const made = make();
        for (const one of names) set(shared, one, made[one]);
        return made[name];
      },
      set(value) { set(globalThis, name, value); },
    });
  }
})
