// `k6/websockets`: the WebSocket and the Blob of browsers, as far as k6 has them.
(function (native) {
  'use strict';
  const KINDS = ['open', 'message', 'close', 'error', 'ping', 'pong'];
  const STATES = { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 };
  const { isView } = ArrayBuffer;
  const { defineProperty } = Object;
  const view = (data) => {
    if (data instanceof ArrayBuffer) return new Uint8Array(data);
    return isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : undefined;
  };

  let bytesOf;
  class Blob {
    #bytes;
    #type;
    static { bytesOf = (value) => (typeof value === 'object' && value && #bytes in value ? value.#bytes : undefined); }
    constructor(parts = [], options = {}) {
      if (typeof parts !== 'object' || parts === null || typeof parts[Symbol.iterator] !== 'function') {
        throw new TypeError('new Blob() takes a list of texts, ArrayBuffers, views of them and Blobs');
      }
      const pieces = [...parts].map((part) => bytesOf(part) ?? view(part) ?? new Uint8Array(native.encode(part)));
      this.#bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
      let at = 0;
      for (const piece of pieces) { this.#bytes.set(piece, at); at += piece.length; }
      this.#type = String(options?.type ?? '');
    }
    get size() { return this.#bytes.length; }
    get type() { return this.#type; }
    async text() { return native.decode(this.#bytes); }
    async arrayBuffer() { return this.#bytes.slice().buffer; }
    async bytes() { return this.#bytes.slice(); }
    slice(start, end, type = '') { return new Blob([this.#bytes.slice(start, end)], { type }); }
    stream() { native.lack('Blob.stream()'); }
  }

  const address = (url) => {
    if (url === undefined) throw new TypeError('WebSocket requires a url');
    const text = String(url);
    const { scheme = '', fragment = '' } = native.parts(text) ?? {};
    if (scheme !== 'ws' && scheme !== 'wss') {
      throw new TypeError(`WebSocket requires url with scheme ws or wss, but got "${scheme}"`);
    }
    if (fragment) throw new TypeError(`WebSocket requires no url fragment, but got "${fragment}"`);
    return text;
  };
  const listed = (protocols) => (protocols == null ? [] : Array.isArray(protocols) ? protocols : [protocols]).map(String);

  class WebSocket {
    #handle;
    #url;
    #state = STATES.CONNECTING;
    #protocol = '';
    #binaryType = 'blob';
    #own = {};
    #listeners = {};
    static {
      for (const kind of KINDS) {
        defineProperty(this.prototype, `on${kind}`, {
          configurable: true,
          enumerable: true,
          get() { return this.#own[kind] ?? null; },
          set(handler) { this.#own[kind] = typeof handler === 'function' ? handler : null; },
        });
      }
      for (const name in STATES) {
        for (const place of [this, this.prototype]) defineProperty(place, name, { value: STATES[name], enumerable: true });
      }
    }
    constructor(url, protocols, params) {
      this.#url = address(url);
      this.#handle = native.open(this.#url, listed(protocols), params, (...told) => this.#hear(...told));
    }
    get url() { return this.#url; }
    get readyState() { return this.#state; }
    get protocol() { return this.#protocol; }
    get extensions() { return ''; }
    get bufferedAmount() { return native.unsent(this.#handle); }
    get binaryType() { return this.#binaryType; }
    set binaryType(type) {
      if (type !== 'blob' && type !== 'arraybuffer') {
        throw new TypeError(`unknown binaryType ${type}, the supported ones are "blob" and "arraybuffer"`);
      }
      this.#binaryType = type;
    }
    addEventListener(kind, handler) {
      if (!KINDS.includes(kind)) return native.warn(`can't add event handler: unknown event type: ${kind}`);
      if (typeof handler !== 'function') throw new TypeError(`the handler of '${kind}' must be a function`);
      (this.#listeners[kind] ??= []).push(handler);
    }
    send(data) {
      this.#mustBeOpen('send');
      const bytes = bytesOf(data) ?? view(data);
      if (bytes === undefined && typeof data !== 'string') {
        const given = data === null ? 'null' : typeof data;
        throw new TypeError(`send() takes a text, an ArrayBuffer, a view of one or a Blob, but got ${given}`);
      }
      native.send(this.#handle, bytes ?? data);
    }
    ping() {
      this.#mustBeOpen('ping');
      native.ping(this.#handle);
    }
    close(code = 1000, reason = undefined) {
      if (this.#state === STATES.OPEN) {
        native.close(this.#handle, code, reason);
        this.#state = STATES.CLOSING;
      } else if (this.#state === STATES.CONNECTING) {
        this.#state = STATES.CLOSING;
        native.drop(this.#handle);
        Promise.resolve().then(() => this.#fail('websocket: closed before it was open'));
      }
    }
    #mustBeOpen(call) {
      if (this.#state === STATES.OPEN) return;
      const error = new Error(`${call}() needs an open WebSocket`);
      error.name = 'InvalidStateError';
      throw error;
    }
    #emit(type, more) {
      const event = { type, target: this, timestamp: Date.now(), ...more };
      for (const handler of [this.#own[type], ...(this.#listeners[type] ?? [])]) handler?.call(this, event);
    }
    #fail(error) {
      this.#state = STATES.CLOSED;
      this.#emit('error', { error });
      this.#emit('close', { code: 1006, reason: '', wasClean: false });
    }
    #hear(kind, first, second) {
      if (kind === 'open') {
        this.#state = STATES.OPEN;
        this.#protocol = second;
        this.#emit('open');
      } else if (kind === 'refused') {
        this.#fail(second);
      } else if (kind === 'text') {
        this.#emit('message', { data: first, origin: this.#url });
      } else if (kind === 'binary') {
        this.#emit('message', { data: this.#binaryType === 'blob' ? new Blob([first]) : first, origin: this.#url });
      } else if (kind === 'failed') {
        this.#state = STATES.CLOSED;
        this.#emit('error', { error: first });
      } else if (kind === 'closed') {
        this.#state = STATES.CLOSED;
        this.#emit('close', { code: first, reason: second, wasClean: first !== 1006 });
      } else {
        this.#emit(kind);
      }
    }
  }
  return { Blob, WebSocket };
})
