// `k6/execution`: objects whose properties are read when they are looked at.
(function (read, abort, fail, tags, metadata, options) {
  'use strict';
  const { defineProperty, freeze, keys } = Object;
  const { parse } = JSON;
  const { round } = Math;
  const { now } = Date;
  const getters = (name, properties) => {
    const object = {};
    for (const key of properties) {
      defineProperty(object, key, { get: () => read(`${name}.${key}`), enumerable: true });
    }
    return object;
  };
  const constant = (object, key, get) => defineProperty(object, key, { get, enumerable: true });

  // An object of texts that are kept elsewhere, for whoever looks.
  const live = ({ get, set, drop, list }) => new Proxy({}, {
    get: (target, key) => (typeof key === 'string' ? get(key) ?? target[key] : target[key]),
    set(_, key, value) { set(String(key), value); return true; },
    defineProperty(_, key, { value }) { set(String(key), value); return true; },
    deleteProperty(_, key) { drop(String(key)); return true; },
    has: (target, key) => (typeof key === 'string' && get(key) !== undefined) || key in target,
    ownKeys: () => list(),
    getOwnPropertyDescriptor(_, key) {
      const value = typeof key === 'string' ? get(key) : undefined;
      return value === undefined ? undefined : { value, writable: true, enumerable: true, configurable: true };
    },
    preventExtensions: () => false,
    setPrototypeOf: () => false,
  });

  const deepFreeze = (value) => {
    if (typeof value === 'object' && value !== null) {
      for (const key of keys(value)) deepFreeze(value[key]);
      freeze(value);
    }
    return value;
  };

  const vu = getters('vu', ['idInTest', 'iterationInInstance', 'iterationInScenario', 'idInInstance']);
  const metrics = {};
  const [liveTags, liveMetadata] = [live(tags), live(metadata)];
  constant(vu, 'tags', () => { read('vu.tags'); return liveTags; });
  constant(vu, 'metrics', () => { read('vu.metrics'); return metrics; });
  constant(metrics, 'metadata', () => { read('vu.metrics.metadata'); return liveMetadata; });
  constant(metrics, 'tags', () => { read('vu.metrics.tags'); return liveTags; });

  const scenario = getters('scenario',
    ['iterationInInstance', 'iterationInTest', 'name', 'executor', 'progress']);
  // The calendar is the engine's; how long ago the scenario began is told.
  constant(scenario, 'startTime', () => round(now() - read('scenario.startTime')));

  const test = { abort, fail };
  let made;
  constant(test, 'options', () => (made ??= deepFreeze(parse(options()))));
  return {
    instance: getters('instance',
      ['iterationsCompleted', 'iterationsInterrupted', 'vusActive', 'vusInitialized', 'currentTestRunDuration']),
    scenario,
    test,
    vu,
  };
})
