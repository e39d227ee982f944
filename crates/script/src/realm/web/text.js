// `TextEncoder` and `TextDecoder`.
(function (native) {
  'use strict';
  const { encode, label, decode, rest } = native;
  const view = (value) => (ArrayBuffer.isView(value) ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength) : new Uint8Array(value));

  class TextEncoder {
    get encoding() { return 'utf-8'; }
    encode(text) { return encode(text); }
    encodeInto(text, target) {
      if (!(target instanceof Uint8Array)) throw new TypeError('encodeInto() writes into a Uint8Array');
      let [read, written] = [0, 0];
      for (const letter of `${text}`) {
        const bytes = encode(letter);
        if (written + bytes.length > target.length) break;
        target.set(bytes, written);
        read += letter.length;
        written += bytes.length;
      }
      return { read, written };
    }
    get [Symbol.toStringTag]() { return 'TextEncoder'; }
  }

  class TextDecoder {
    #encoding; #fatal; #ignoreBOM;
    // What was left of the part before, and whether its beginning is behind us.
    #left = null;
    #begun = false;
    constructor(name = 'utf-8', options = {}) {
      const encoding = label(`${name}`);
      if (!encoding) throw new RangeError(`TextDecoder: there is no encoding '${name}'`);
      this.#encoding = encoding;
      this.#fatal = Boolean(options?.fatal);
      this.#ignoreBOM = Boolean(options?.ignoreBOM);
    }
    get encoding() { return this.#encoding; }
    get fatal() { return this.#fatal; }
    get ignoreBOM() { return this.#ignoreBOM; }
    decode(input, options) {
      const stream = Boolean(options?.stream);
      if (!stream && !this.#left && !this.#begun) return decode(this.#encoding, input, this.#fatal, this.#ignoreBOM);
      if (input !== undefined && !(input instanceof ArrayBuffer) && !ArrayBuffer.isView(input)) decode(this.#encoding, input, true, true);
      const fresh = input === undefined ? new Uint8Array(0) : view(input);
      let bytes = fresh;
      if (this.#left) {
        bytes = new Uint8Array(this.#left.length + fresh.length);
        bytes.set(this.#left);
        bytes.set(fresh, this.#left.length);
      }
      const keep = stream ? rest(this.#encoding, bytes) : 0;
      this.#left = keep ? bytes.slice(bytes.length - keep) : null;
      const whole = bytes.subarray(0, bytes.length - keep);
      const text = decode(this.#encoding, whole, this.#fatal, this.#ignoreBOM || this.#begun);
      this.#begun = stream && (this.#begun || whole.length > 0);
      return text;
    }
    get [Symbol.toStringTag]() { return 'TextDecoder'; }
  }
  return { TextEncoder, TextDecoder };
})
