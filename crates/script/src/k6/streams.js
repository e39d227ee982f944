// `k6/experimental/streams`: readable and writable streams by the WHATWG's description, without byte streams and pipes.
(function () {
  'use strict';
  const defer = () => {
    const deferred = {};
    deferred.promise = new Promise((resolve, reject) => Object.assign(deferred, { resolve, reject }));
    // Nobody has to look at it.
    deferred.promise.catch(() => {});
    return deferred;
  };
  const method = (object, name) => {
    const found = object?.[name];
    if (found === undefined || found === null) return undefined;
    if (typeof found !== 'function') throw new TypeError(`${name} must be a function`);
    return (...values) => found.apply(object, values);
  };
  const strategyOf = (strategy) => {
    const mark = strategy?.highWaterMark ?? 1;
    if (!(Number(mark) >= 0)) throw new RangeError('highWaterMark must be a number, 0 or more');
    const size = method(strategy, 'size') ?? (() => 1);
    return { mark: Number(mark), size };
  };
  const sizeOf = (size, value) => {
    const one = Number(size(value));
    if (!(one >= 0 && one < Infinity)) throw new RangeError('the size of a value must be a number, 0 or more');
    return one;
  };
  const SECRET = Symbol('stream');

  class CountQueuingStrategy {
    #mark;
    constructor(init) {
      if (typeof init !== 'object' || init === null) throw new TypeError('CountQueuingStrategy needs an object with highWaterMark');
      this.#mark = Number(init.highWaterMark);
    }
    get highWaterMark() { return this.#mark; }
    get size() { return () => 1; }
  }

  let readSide;
  class ReadableStreamDefaultController {
    #side;
    constructor(secret, side) {
      if (secret !== SECRET) throw new TypeError('a controller is made by its stream');
      this.#side = side;
    }
    get desiredSize() { return this.#side.desired(); }
    enqueue(value) { this.#side.enqueue(value); }
    close() { this.#side.close(); }
    error(reason) { this.#side.fail(reason); }
  }

  // Everything that a readable stream is: its state, what is queued, and who waits.
  const newReadSide = (source, { mark, size }) => {
    let [state, reason, queued, closing, started, pulling, again] = ['readable', undefined, 0, false, false, false, false];
    let queue = [];
    let [pull, cancel] = [method(source, 'pull'), method(source, 'cancel')];
    const side = { reader: null, waiting: [] };
    const finish = () => {
      state = 'closed';
      pull = cancel = undefined;
      for (const wait of side.waiting.splice(0)) wait.resolve({ value: undefined, done: true });
      side.reader?.closed.resolve(undefined);
    };
    side.state = () => state;
    side.reason = () => reason;
    side.desired = () => (state === 'errored' ? null : state === 'closed' ? 0 : mark - queued);
    side.fail = (why) => {
      if (state !== 'readable') return;
      [state, reason, queue, queued, pull, cancel] = ['errored', why, [], 0, undefined, undefined];
      for (const wait of side.waiting.splice(0)) wait.reject(why);
      side.reader?.closed.reject(why);
    };
    side.callPull = () => {
      if (!pull || !started || state !== 'readable' || closing) return;
      if (side.waiting.length === 0 && side.desired() <= 0) return;
      if (pulling) { again = true; return; }
      pulling = true;
      let pulled;
      try { pulled = Promise.resolve(pull(controller)); } catch (why) { pulled = Promise.reject(why); }
      pulled.then(() => { pulling = false; if (again) { again = false; side.callPull(); } }, side.fail);
    };
    side.enqueue = (value) => {
      if (closing || state !== 'readable') throw new TypeError('the stream is closed: nothing more can be enqueued');
      const wait = side.waiting.shift();
      if (wait) {
        wait.resolve({ value, done: false });
      } else {
        let length;
        try { length = sizeOf(size, value); } catch (why) { side.fail(why); throw why; }
        queue.push([value, length]);
        queued += length;
      }
      side.callPull();
    };
    side.close = () => {
      if (closing || state !== 'readable') throw new TypeError('the stream is closed already');
      closing = true;
      if (queue.length === 0) finish();
    };
    side.read = () => {
      if (state === 'closed') return Promise.resolve({ value: undefined, done: true });
      if (state === 'errored') return Promise.reject(reason);
      if (queue.length > 0) {
        const [value, length] = queue.shift();
        queued -= length;
        if (closing && queue.length === 0) finish(); else side.callPull();
        return Promise.resolve({ value, done: false });
      }
      const wait = defer();
      side.waiting.push(wait);
      side.callPull();
      return wait.promise;
    };
    side.cancel = async (why) => {
      if (state === 'closed') return undefined;
      if (state === 'errored') throw reason;
      [queue, queued] = [[], 0];
      const tell = cancel;
      finish();
      await tell?.(why);
      return undefined;
    };
    const controller = new ReadableStreamDefaultController(SECRET, side);
    const begun = method(source, 'start')?.(controller);
    Promise.resolve(begun).then(() => { started = true; side.callPull(); }, side.fail);
    return side;
  };

  class ReadableStream {
    #side;
    constructor(source = {}, strategy = {}) {
      if (typeof source !== 'object' || source === null) throw new TypeError('ReadableStream: the source must be an object');
      if (source.type === 'bytes') throw new TypeError('ReadableStream: streams of bytes are not supported');
      if (source.type !== undefined) throw new TypeError(`ReadableStream: there is no type '${source.type}'`);
      this.#side = newReadSide(source, strategyOf(strategy));
    }
    static { readSide = (stream) => stream.#side; }
    get locked() { return this.#side.reader !== null; }
    getReader(options) {
      if (options?.mode !== undefined) throw new TypeError('getReader(): streams of bytes are not supported');
      return new ReadableStreamDefaultReader(this);
    }
    async cancel(reason) {
      if (this.locked) throw new TypeError('cancel(): the stream is locked by a reader');
      return this.#side.cancel(reason);
    }
    async *[Symbol.asyncIterator]() {
      const reader = this.getReader();
      try {
        for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
      } finally { reader.releaseLock(); }
    }
  }

  class ReadableStreamDefaultReader {
    #side;
    #own = { closed: defer() };
    constructor(stream) {
      if (!(stream instanceof ReadableStream)) throw new TypeError('ReadableStreamDefaultReader: a ReadableStream is expected');
      const side = readSide(stream);
      if (side.reader) throw new TypeError('the stream is locked by another reader');
      this.#side = side;
      side.reader = this.#own;
      if (side.state() === 'closed') this.#own.closed.resolve(undefined);
      if (side.state() === 'errored') this.#own.closed.reject(side.reason());
    }
    get closed() { return this.#own.closed.promise; }
    async read() {
      if (!this.#side) throw new TypeError('read(): the reader has been released');
      return this.#side.read();
    }
    async cancel(reason) {
      if (!this.#side) throw new TypeError('cancel(): the reader has been released');
      return this.#side.cancel(reason);
    }
    releaseLock() {
      if (!this.#side) return;
      const released = new TypeError('the reader has been released');
      for (const wait of this.#side.waiting.splice(0)) wait.reject(released);
      if (this.#side.state() !== 'readable') this.#own = { closed: defer() };
      this.#own.closed.reject(released);
      this.#side.reader = null;
      this.#side = null;
    }
  }

  let writeSide;
  const newWriteSide = (sink, { mark, size }) => {
    let [state, reason, queued, busy, started] = ['writable', undefined, 0, true, false];
    const queue = [];
    const side = { writer: null, ready: defer(), closed: defer() };
    const [write, close, abort] = ['write', 'close', 'abort'].map((name) => method(sink, name));
    side.state = () => state;
    side.desired = () => (state === 'errored' ? null : state === 'closed' ? 0 : mark - queued);
    const pressure = () => {
      if (side.desired() > 0) side.ready.resolve(undefined);
      else if (state === 'writable') side.ready = defer();
    };
    side.fail = (why) => {
      if (state === 'errored' || state === 'closed') return;
      [state, reason] = ['errored', why];
      for (const job of queue.splice(0)) job.done.reject(why);
      side.ready.reject(why);
      side.closed.reject(why);
    };
    const controller = Object.freeze({ error: (why) => side.fail(why) });
    const turn = async () => {
      if (busy || !started) return;
      busy = true;
      while (queue.length > 0 && state !== 'errored') {
        const job = queue[0];
        try {
          await (job.isClose ? close?.() : write?.(job.value, controller));
          if (state === 'errored') break;
          queue.shift();
          queued -= job.length;
          if (job.isClose) { state = 'closed'; side.closed.resolve(undefined); }
          job.done.resolve(undefined);
          pressure();
        } catch (why) { side.fail(why); }
      }
      busy = false;
    };
    const put = (job) => {
      job.done = defer();
      queue.push(job);
      queued += job.length;
      turn();
      return job.done.promise;
    };
    side.write = (value) => {
      if (state === 'errored') return Promise.reject(reason);
      if (state !== 'writable') return Promise.reject(new TypeError('write(): the stream is closed'));
      let length;
      try { length = sizeOf(size, value); } catch (why) { side.fail(why); return Promise.reject(why); }
      const written = put({ value, length });
      if (side.desired() <= 0) side.ready = defer();
      return written;
    };
    side.close = () => {
      if (state === 'errored') return Promise.reject(reason);
      if (state !== 'writable') return Promise.reject(new TypeError('close(): the stream is closed already'));
      state = 'closing';
      side.ready.resolve(undefined);
      return put({ isClose: true, length: 0 });
    };
    side.abort = async (why) => {
      if (state === 'closed' || state === 'errored') return undefined;
      side.fail(why);
      await abort?.(why);
      return undefined;
    };
    pressure();
    const begun = method(sink, 'start')?.(controller);
    Promise.resolve(begun).then(() => { [started, busy] = [true, false]; turn(); }, side.fail);
    return side;
  };

  class WritableStream {
    #side;
    constructor(sink = {}, strategy = {}) {
      if (typeof sink !== 'object' || sink === null) throw new TypeError('WritableStream: the sink must be an object');
      if (sink.type !== undefined) throw new RangeError(`WritableStream: there is no type '${sink.type}'`);
      this.#side = newWriteSide(sink, strategyOf(strategy));
    }
    static { writeSide = (stream) => stream.#side; }
    get locked() { return this.#side.writer !== null; }
    getWriter() { return new WritableStreamDefaultWriter(this); }
    async abort(reason) {
      if (this.locked) throw new TypeError('abort(): the stream is locked by a writer');
      return this.#side.abort(reason);
    }
    async close() {
      if (this.locked) throw new TypeError('close(): the stream is locked by a writer');
      return this.#side.close();
    }
  }

  class WritableStreamDefaultWriter {
    #side;
    constructor(stream) {
      if (!(stream instanceof WritableStream)) throw new TypeError('WritableStreamDefaultWriter: a WritableStream is expected');
      const side = writeSide(stream);
      if (side.writer) throw new TypeError('the stream is locked by another writer');
      this.#side = side;
      side.writer = this;
    }
    #held(doing) {
      if (!this.#side) throw new TypeError(`${doing}: the writer has been released`);
      return this.#side;
    }
    get closed() { return this.#side ? this.#side.closed.promise : Promise.reject(new TypeError('closed: the writer has been released')); }
    get ready() { return this.#side ? this.#side.ready.promise : Promise.reject(new TypeError('ready: the writer has been released')); }
    get desiredSize() { return this.#held('desiredSize').desired(); }
    async write(value) { return this.#held('write()').write(value); }
    async close() { return this.#held('close()').close(); }
    async abort(reason) { return this.#held('abort()').abort(reason); }
    releaseLock() {
      if (!this.#side) return;
      this.#side.writer = null;
      this.#side = null;
    }
  }
  return { CountQueuingStrategy, ReadableStream, ReadableStreamDefaultReader, WritableStream, WritableStreamDefaultWriter };
})
