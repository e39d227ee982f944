// `k6/experimental/fs`.
(function (native) {
  'use strict';
  const { isInit, kind, open: read, slice } = native;
  const { min } = Math;
  const failure = (name, text) => Object.assign(new Error(text), { name });
  const SeekMode = Object.freeze({ Start: 0, Current: 1, End: 2 });
  // What `k6/experimental/csv` needs of a file.
  const inside = Symbol.for('plimsoll.file');

  class File {
    #name; #size;
    #at = 0;
    constructor({ path, name, size }) {
      this.path = path;
      this.#name = name;
      this.#size = size;
      Object.defineProperty(this, inside, {
        value: () => { const at = this.#at; this.#at = this.#size; return { path, at }; },
      });
      for (const method of ['read', 'seek', 'stat']) this[method] = this[method].bind(this);
    }
    async read(into) {
      if (!(into instanceof Uint8Array)) throw new TypeError('read(): a Uint8Array to read into is expected');
      const count = min(into.length, this.#size - this.#at);
      if (count === 0) return null;
      into.set(new Uint8Array(slice(this.path, this.#at, this.#at + count)));
      this.#at += count;
      return count;
    }
    async seek(offset, whence) {
      if (!Number.isInteger(offset)) throw new TypeError('seek(): the offset must be a whole number');
      if (![0, 1, 2].includes(whence)) throw new TypeError('seek(): the second argument must be a SeekMode');
      if (whence === SeekMode.Start && offset < 0) throw new TypeError('seek(): an offset from the start cannot be negative');
      if (whence === SeekMode.End && offset > 0) throw new TypeError('seek(): an offset from the end cannot be positive');
      const at = offset + [0, this.#at, this.#size][whence];
      if (at < 0 || at > this.#size) throw new TypeError(`seek(): ${at} is not within the file, which has ${this.#size} bytes`);
      this.#at = at;
      return at;
    }
    async stat() { return { name: this.#name, size: this.#size }; }
  }

  async function open(path) {
    if (!isInit()) throw failure('ForbiddenError', 'fs.open() is only possible in the init code of the script');
    if (path === undefined || path === null || path === '') throw new TypeError('fs.open() needs the path of a file');
    const name = `${path}`.replace(/^file:\/\//, '');
    const found = kind(name);
    if (found === 'nothing') throw failure('NotFoundError', `cannot open ${name}: there is no such file`);
    if (found === 'directory') throw failure('InvalidResourceError', `cannot open ${name}: it is a directory`);
    return new File(read(name));
  }
  return { SeekMode, open };
})
