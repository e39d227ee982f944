// `k6/metrics`: metrics of the script's own.
(function (create, add) {
  'use strict';
  const { defineProperty } = Object;
  class Metric {
    #id;
    constructor(kind, name, isTime) {
      this.#id = create(kind, name, isTime);
      defineProperty(this, 'name', { value: name, enumerable: true });
    }
    add(value, tags) { return add(this.#id, this.name, value, tags); }
  }
  return {
    Counter: class Counter extends Metric { constructor(name, isTime) { super('counter', name, isTime); } },
    Gauge: class Gauge extends Metric { constructor(name, isTime) { super('gauge', name, isTime); } },
    Rate: class Rate extends Metric { constructor(name, isTime) { super('rate', name, isTime); } },
    Trend: class Trend extends Metric { constructor(name, isTime) { super('trend', name, isTime); } },
  };
})
