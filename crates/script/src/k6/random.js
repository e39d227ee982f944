// `randomSeed` of `k6`: from then on Math.random of this user alone follows the seed (a 32-bit mixing generator).
(function () {
  'use strict';
  const { create, defineProperty } = Object;
  const shared = Math;
  const { imul } = Math;
  return function randomSeed(seed) {
    let state = seed | 0;
    const own = create(shared);
    const random = () => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
    };
    defineProperty(own, 'random', { value: random, writable: true, configurable: true });
    defineProperty(globalThis, 'Math', { value: own, writable: true, configurable: true });
  };
})()
