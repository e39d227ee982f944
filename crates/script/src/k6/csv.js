// `k6/experimental/csv`.
(function (SharedArray, parser) {
  'use strict';
  const { parse: parseJson } = JSON;
  const inside = Symbol.for('plimsoll.file');
  const whole = (value, key) => {
    if (value === undefined || value === null) return undefined;
    if (!Number.isInteger(value) || value < 0) throw new TypeError(`csv: ${key} must be a whole number, 0 or more, not ${value}`);
    return value;
  };
  const wanted = (file, options) => {
    const { delimiter = ',', skipFirstLine = false, fromLine, toLine, asObjects = false } = options ?? {};
    const [from, to] = [whole(fromLine, 'fromLine') ?? 0, whole(toLine, 'toLine')];
    if (typeof delimiter !== 'string' || delimiter.length !== 1) throw new TypeError('csv: the delimiter must be one letter');
    if (delimiter.charCodeAt(0) > 127) throw new TypeError(`csv: the delimiter must be an ASCII letter, not '${delimiter}'`);
    if (to !== undefined && from > to) throw new TypeError('csv: fromLine must not lie behind toLine');
    if (asObjects && skipFirstLine) throw new TypeError('csv: asObjects needs the first line, which skipFirstLine leaves out');
    if (asObjects && from > 0) throw new TypeError('csv: asObjects needs the first line, which fromLine leaves out');
    if (typeof file?.[inside] !== 'function') throw new TypeError('csv: a file is expected, as fs.open() of k6/experimental/fs gives it');
    const first = from === 0 && skipFirstLine ? 1 : from;
    return { ...file[inside](), delimiter: delimiter.charCodeAt(0), from: first, to, asObjects: Boolean(asObjects) };
  };
  async function parse(file, options) { return new SharedArray(wanted(file, options)); }
  class Parser {
    #next;
    constructor(file, options) { this.#next = parser(wanted(file, options)); }
    async next() {
      const row = this.#next();
      return row === undefined || row === null ? { done: true, value: [] } : { done: false, value: parseJson(row) };
    }
  }
  return { Parser, parse };
})
