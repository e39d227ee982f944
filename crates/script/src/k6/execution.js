// `k6/execution`: what a user can know of itself and its run. What is missing ends the run
// when it is looked at.
(function (read, abort, lack) {
  'use strict';
  const { defineProperty, freeze } = Object;
  const { parse } = JSON;
  const section = (name, known, missing) => {
    const object = {};
    for (const key of known) defineProperty(object, key, { enumerable: true, get: () => read(`${name}.${key}`) });
    for (const key of missing) {
      defineProperty(object, key, { enumerable: false, get: () => lack(`${name}.${key}`) });
    }
    return object;
  };
  const vu = section('vu',
    ['idInTest', 'idInInstance', 'iterationInInstance', 'iterationInScenario'], ['tags', 'metrics']);
  const scenario = section('scenario',
    ['name', 'executor', 'iterationInTest', 'iterationInInstance'], ['startTime', 'progress']);
  const instance = section('instance',
    [], ['currentTestRunDuration', 'iterationsCompleted', 'iterationsInterrupted', 'vusActive', 'vusInitialized']);
  const test = section('test', [], ['fail']);
  const deepFreeze = (value) => {
    if (value !== null && typeof value === 'object') {
      Object.values(value).forEach(deepFreeze);
      freeze(value);
    }
    return value;
  };
  let options;
  defineProperty(test, 'options', {
    enumerable: true,
    get: () => options ??= deepFreeze(parse(read('test.options'))),
  });
  test.abort = function abort_(text) { abort(text); };
  for (const object of [vu, scenario, instance, test]) freeze(object);
  return { vu, scenario, instance, test };
})
