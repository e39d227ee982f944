// `crypto`. Judges algorithms, usages and formats; the ciphers are native and give nothing where something does not fit.
// Keys are kept as raw bytes (secret), PKCS#8 (private) or SubjectPublicKeyInfo (public).
(function (native) {
  'use strict';
  const { curve, rsa } = native;
  const fail = (name, text) => { throw new DOMException(text, name); };
  const must = (value, name, text) => (value === undefined || value === null ? fail(name, text) : value);
  const bytes = (value, what) => {
    if (value instanceof ArrayBuffer) return new Uint8Array(value.slice(0));
    if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice();
    throw new TypeError(`${what} must be an ArrayBuffer or a view of one`);
  };
  const optional = (value, what) => (value === undefined ? new Uint8Array(0) : bytes(value, what));

  const HASHES = { 'SHA-1': ['sha1', 20, 64], 'SHA-256': ['sha256', 32, 64], 'SHA-384': ['sha384', 48, 128], 'SHA-512': ['sha512', 64, 128] };
  const hashOf = (hash) => {
    const name = `${typeof hash === 'object' && hash !== null ? hash.name : hash}`.toUpperCase();
    const known = HASHES[name] ?? fail('NotSupportedError', `there is no hash '${name}'`);
    return { name, native: known[0], length: known[1], block: known[2] };
  };
  const NAMES = ['AES-CBC', 'AES-CTR', 'AES-GCM', 'AES-KW', 'HMAC', 'RSASSA-PKCS1-v1_5', 'RSA-PSS', 'RSA-OAEP', 'ECDSA', 'ECDH', 'PBKDF2', 'HKDF'];
  // An algorithm as it is asked for: a name, or an object with one.
  const algorithm = (given, doing) => {
    const asked = typeof given === 'string' ? { name: given } : given;
    if (typeof asked !== 'object' || asked === null || asked.name === undefined) throw new TypeError(`${doing}: an algorithm has a name`);
    const name = NAMES.find((one) => one.toLowerCase() === `${asked.name}`.toLowerCase());
    if (!name || name === 'AES-KW') fail('NotSupportedError', `${doing}: '${asked.name}' is not supported`);
    return { ...asked, name };
  };
  const isAes = (name) => name.startsWith('AES-');
  const isRsa = (name) => name.startsWith('RSA');
  const isEc = (name) => name.startsWith('EC');

  const USAGES = {
    'AES-CBC': { secret: ['encrypt', 'decrypt', 'wrapKey', 'unwrapKey'] },
    HMAC: { secret: ['sign', 'verify'] },
    ECDSA: { private: ['sign'], public: ['verify'] },
    'RSA-OAEP': { private: ['decrypt', 'unwrapKey'], public: ['encrypt', 'wrapKey'] },
    ECDH: { private: ['deriveKey', 'deriveBits'], public: [] },
    PBKDF2: { secret: ['deriveKey', 'deriveBits'] },
  };
  USAGES['AES-CTR'] = USAGES['AES-GCM'] = USAGES['AES-CBC'];
  USAGES['RSA-PSS'] = USAGES['RSASSA-PKCS1-v1_5'] = USAGES.ECDSA;
  USAGES.HKDF = USAGES.PBKDF2;
  const ALL = ['encrypt', 'decrypt', 'sign', 'verify', 'deriveKey', 'deriveBits', 'wrapKey', 'unwrapKey'];
  const usagesOf = (name, type, given) => {
    const wanted = [...new Set(given)];
    for (const usage of wanted) {
      if (!ALL.includes(usage)) throw new TypeError(`'${usage}' is no usage of a key`);
      if (!USAGES[name][type].includes(usage)) fail('SyntaxError', `a ${type} key of ${name} is not for '${usage}'`);
    }
    if (type !== 'public' && wanted.length === 0) fail('SyntaxError', `a ${type} key needs a usage`);
    return ALL.filter((usage) => wanted.includes(usage));
  };

  const SECRET = Symbol('key');
  let dataOf;
  class CryptoKey {
    #data;
    constructor(secret, type, extractable, algorithm, usages, data) {
      if (secret !== SECRET) throw new TypeError('a CryptoKey is made by crypto.subtle');
      this.#data = data;
      for (const [name, value] of Object.entries({ type, extractable: Boolean(extractable), algorithm, usages })) {
        Object.defineProperty(this, name, { value, enumerable: true });
      }
    }
    static { dataOf = (key) => key.#data; }
    get [Symbol.toStringTag]() { return 'CryptoKey'; }
  }
  const newKey = (...parts) => new CryptoKey(SECRET, ...parts);
  const keyFor = (key, asked, usage, type) => {
    if (!(key instanceof CryptoKey)) throw new TypeError(`${usage}: a CryptoKey is expected`);
    if (key.algorithm.name !== asked.name) fail('InvalidAccessError', `${usage}: the key is one of ${key.algorithm.name}, not of ${asked.name}`);
    if (!key.usages.includes(usage)) fail('InvalidAccessError', `the key is not for '${usage}'`);
    if (type && key.type !== type) fail('InvalidAccessError', `${usage}: a ${type} key is expected`);
    return dataOf(key);
  };

  const base64url = {
    encode: (data) => btoa(String.fromCharCode(...new Uint8Array(data))).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, ''),
    decode(text, what) {
      if (typeof text !== 'string' || !/^[A-Za-z0-9_-]*$/.test(text)) fail('DataError', `${what} of the JWK is no base64url text`);
      try {
        return Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (letter) => letter.charCodeAt(0));
      } catch { return fail('DataError', `${what} of the JWK is no base64url text`); }
    },
  };
  const CURVES = { 'P-256': 32, 'P-384': 48, 'P-521': 66 };
  const curveOf = (asked) => (asked.namedCurve in CURVES ? asked.namedCurve : fail('NotSupportedError', `there is no curve '${asked.namedCurve}'`));

  // What `key.algorithm` shows.
  const rsaAlgorithm = (asked, publicData) => {
    const [n, e] = must(rsa.publicParts(publicData), 'DataError', 'this is no RSA key');
    const first = new Uint8Array(n)[0];
    const modulusLength = (n.byteLength - 1) * 8 + (32 - Math.clz32(first));
    return { name: asked.name, modulusLength, publicExponent: new Uint8Array(e), hash: { name: hashOf(asked.hash).name } };
  };
  const JWK_HASH = { 'SHA-1': '1', 'SHA-256': '256', 'SHA-384': '384', 'SHA-512': '512' };
  const jwkAlgorithm = ({ name, hash, length }) => {
    if (isAes(name)) return `A${length}${name.slice(4)}`;
    const end = hash && JWK_HASH[hash.name];
    if (name === 'HMAC') return `HS${end}`;
    if (name === 'RSASSA-PKCS1-v1_5') return `RS${end}`;
    if (name === 'RSA-PSS') return `PS${end}`;
    if (name === 'RSA-OAEP') return end === '1' ? 'RSA-OAEP' : `RSA-OAEP-${end}`;
    return undefined;
  };

  const secretKey = (asked, data, extractable, usages) => {
    const allowed = usagesOf(asked.name, 'secret', usages);
    if (isAes(asked.name)) {
      if (![16, 24, 32].includes(data.length)) fail('DataError', `an AES key has 128, 192 or 256 bits, not ${data.length * 8}`);
      return newKey('secret', extractable, { name: asked.name, length: data.length * 8 }, allowed, data);
    }
    if (asked.name === 'HMAC') {
      if (data.length === 0) fail('DataError', 'an HMAC key is not empty');
      return newKey('secret', extractable, { name: 'HMAC', hash: { name: hashOf(asked.hash).name }, length: data.length * 8 }, allowed, data);
    }
    if (extractable) fail('SyntaxError', `a key of ${asked.name} cannot be extractable`);
    return newKey('secret', false, { name: asked.name }, allowed, data);
  };
  const pairKey = (asked, type, data, extractable, usages) => {
    const allowed = usagesOf(asked.name, type, usages);
    let shown;
    if (isRsa(asked.name)) {
      const open = type === 'public' ? data : must(rsa.publicOf(data), 'DataError', 'this is no private RSA key');
      shown = rsaAlgorithm(asked, open);
    } else {
      const name = curveOf(asked);
      must(type === 'public' ? curve.point(name, data) : curve.publicOf(name, data), 'DataError', `this is no ${type} key of the curve ${name}`);
      shown = { name: asked.name, namedCurve: name };
    }
    return newKey(type, extractable, shown, allowed, data);
  };

  const fromJwk = (asked, jwk, extractable, usages) => {
    if (typeof jwk !== 'object' || jwk === null) throw new TypeError('importKey: a JWK is an object');
    const kinds = isRsa(asked.name) ? 'RSA' : isEc(asked.name) ? 'EC' : 'oct';
    if (jwk.kty !== kinds) fail('DataError', `the kty of the JWK is '${jwk.kty}' instead of '${kinds}'`);
    if (jwk.ext === false && extractable) fail('DataError', 'the JWK says that the key is not extractable');
    if (jwk.key_ops !== undefined && usages.some((usage) => !jwk.key_ops.includes(usage))) fail('DataError', 'the key_ops of the JWK lack a usage');
    const part = (name) => base64url.decode(jwk[name], name);
    if (kinds === 'oct') {
      const key = secretKey(asked, part('k'), extractable, usages);
      const expected = jwkAlgorithm(key.algorithm);
      if (jwk.alg !== undefined && expected !== undefined && jwk.alg !== expected) fail('DataError', `the alg of the JWK is '${jwk.alg}' instead of '${expected}'`);
      return key;
    }
    const type = jwk.d === undefined ? 'public' : 'private';
    let data;
    if (kinds === 'RSA') {
      const parts = (type === 'public' ? ['n', 'e'] : ['n', 'e', 'd', 'p', 'q']).map(part);
      data = type === 'public' ? rsa.ofPublicParts(parts) : rsa.ofPrivateParts(parts);
    } else {
      const name = curveOf(asked);
      if (jwk.crv !== name) fail('DataError', `the crv of the JWK is '${jwk.crv}' instead of '${name}'`);
      data = type === 'private' ? curve.ofNumber(name, part('d')) : curve.ofPoint(name, new Uint8Array([4, ...part('x'), ...part('y')]));
    }
    return pairKey(asked, type, new Uint8Array(must(data, 'DataError', 'the numbers of the JWK make no key')), extractable, usages);
  };

  const toJwk = (key) => {
    const { algorithm: shown, type } = key;
    const data = dataOf(key);
    const common = { key_ops: [...key.usages], ext: key.extractable };
    const alg = jwkAlgorithm(shown);
    if (alg) common.alg = alg;
    if (type === 'secret') return { kty: 'oct', k: base64url.encode(data), ...common };
    if (isRsa(shown.name)) {
      const names = ['n', 'e', 'd', 'p', 'q', 'dp', 'dq', 'qi'];
      const parts = type === 'public' ? rsa.publicParts(data) : rsa.privateParts(data);
      const jwk = { kty: 'RSA', ...common };
      parts.forEach((part, i) => { jwk[names[i]] = base64url.encode(part); });
      return jwk;
    }
    const name = shown.namedCurve;
    const point = new Uint8Array(curve.point(name, type === 'public' ? data : new Uint8Array(curve.publicOf(name, data))));
    const length = CURVES[name];
    const jwk = { kty: 'EC', crv: name, x: base64url.encode(point.slice(1, 1 + length)), y: base64url.encode(point.slice(1 + length)), ...common };
    if (type === 'private') jwk.d = base64url.encode(curve.number(name, data));
    return jwk;
  };

  const FORMATS = ['raw', 'jwk', 'pkcs8', 'spki'];
  const formatOf = (format) => (FORMATS.includes(format) ? format : fail('NotSupportedError', `there is no format '${format}' of keys`));
  const importKey = (format, data, asked, extractable, usages) => {
    if (formatOf(format) === 'jwk') return fromJwk(asked, data, extractable, usages);
    const copy = bytes(data, 'importKey: the key');
    if (!isRsa(asked.name) && !isEc(asked.name)) {
      if (format !== 'raw') fail('NotSupportedError', `a key of ${asked.name} has no format '${format}'`);
      return secretKey(asked, copy, extractable, usages);
    }
    if (format === 'raw') {
      if (!isEc(asked.name)) fail('NotSupportedError', `a key of ${asked.name} has no format 'raw'`);
      const made = curve.ofPoint(curveOf(asked), copy);
      return pairKey(asked, 'public', new Uint8Array(must(made, 'DataError', 'this is no point of the curve')), extractable, usages);
    }
    return pairKey(asked, format === 'spki' ? 'public' : 'private', copy, extractable, usages);
  };
  const exportKey = (format, key) => {
    formatOf(format);
    if (!(key instanceof CryptoKey)) throw new TypeError('exportKey: a CryptoKey is expected');
    if (!key.extractable) fail('InvalidAccessError', 'the key is not extractable');
    if (format === 'jwk') return toJwk(key);
    const data = dataOf(key);
    if (format === 'raw' && key.type === 'secret') return data.slice().buffer;
    if (format === 'raw' && key.type === 'public' && isEc(key.algorithm.name)) return curve.point(key.algorithm.namedCurve, data);
    if ((format === 'spki' && key.type === 'public') || (format === 'pkcs8' && key.type === 'private')) return data.slice().buffer;
    return fail('InvalidAccessError', `a ${key.type} key of ${key.algorithm.name} has no format '${format}'`);
  };

  const aesLength = (asked) => ([128, 192, 256].includes(asked.length) ? asked.length : fail('OperationError', `an AES key has 128, 192 or 256 bits, not ${asked.length}`));
  const generateKey = (asked, extractable, usages) => {
    if (asked.name === 'PBKDF2' || asked.name === 'HKDF') fail('NotSupportedError', `keys of ${asked.name} are imported, not generated`);
    if (isAes(asked.name)) return secretKey(asked, new Uint8Array(native.random(aesLength(asked) / 8)), extractable, usages);
    if (asked.name === 'HMAC') {
      const bits = asked.length ?? hashOf(asked.hash).block * 8;
      if (!(bits > 0)) fail('OperationError', 'an HMAC key is not empty');
      return secretKey(asked, new Uint8Array(native.random(Math.ceil(bits / 8))), extractable, usages);
    }
    const open = usages.filter((usage) => USAGES[asked.name].public.includes(usage));
    const closed = usages.filter((usage) => !open.includes(usage));
    usagesOf(asked.name, 'private', closed);
    let data;
    if (isRsa(asked.name)) {
      hashOf(asked.hash);
      data = rsa.generate(Number(asked.modulusLength), bytes(asked.publicExponent, 'generateKey: publicExponent'));
    } else {
      data = curve.generate(curveOf(asked));
    }
    const privateData = new Uint8Array(must(data, 'OperationError', 'no key of this kind can be generated'));
    const publicData = new Uint8Array(isRsa(asked.name) ? rsa.publicOf(privateData) : curve.publicOf(asked.namedCurve, privateData));
    return {
      privateKey: pairKey(asked, 'private', privateData, extractable, closed),
      publicKey: pairKey(asked, 'public', publicData, true, open),
    };
  };

  const crypt = (asked, key, data, doing) => {
    const encrypts = doing === 'encrypt';
    const done = (made) => must(made, 'OperationError', `cannot ${doing} with these parameters: the data, the key or the algorithm do not fit`);
    if (asked.name === 'RSA-OAEP') {
      const held = keyFor(key, asked, doing, encrypts ? 'public' : 'private');
      const hash = hashOf(key.algorithm.hash).native;
      const label = optional(asked.label, 'label');
      return done((encrypts ? rsa.encrypt : rsa.decrypt)(hash, label, held, data));
    }
    if (!isAes(asked.name)) fail('NotSupportedError', `${asked.name} cannot ${doing}`);
    const held = keyFor(key, asked, doing);
    const start = bytes(asked.name === 'AES-CTR' ? asked.counter : asked.iv, asked.name === 'AES-CTR' ? 'counter' : 'iv');
    if (asked.name !== 'AES-GCM' && start.length !== 16) fail('OperationError', `${asked.name} begins with 16 bytes, not ${start.length}`);
    if (asked.name === 'AES-GCM' && ![12, 16].includes(start.length)) fail('NotSupportedError', `an iv of AES-GCM has 12 bytes (or 16), not ${start.length}`);
    let bits = 0;
    if (asked.name === 'AES-GCM') {
      bits = asked.tagLength ?? 128;
      if (![32, 64, 96, 104, 112, 120, 128].includes(bits)) fail('OperationError', `a tag of AES-GCM has not ${bits} bits`);
    }
    if (asked.name === 'AES-CTR') {
      bits = asked.length;
      if (!(Number.isInteger(bits) && bits >= 1 && bits <= 128)) fail('OperationError', `a counter has 1 to 128 bits, not ${bits}`);
    }
    return done(native.aes(asked.name, encrypts, held, start, optional(asked.additionalData, 'additionalData'), bits, data));
  };

  const signing = (asked, key, data, signature) => {
    const doing = signature ? 'verify' : 'sign';
    const held = keyFor(key, asked, doing);
    if (asked.name === 'HMAC') {
      const made = native.hmac(hashOf(key.algorithm.hash).native, held, data);
      if (!signature) return made;
      const other = new Uint8Array(made);
      let differs = other.length ^ signature.length;
      for (let i = 0; i < other.length; i++) differs |= other[i] ^ signature[i];
      return differs === 0;
    }
    const hash = hashOf(asked.name === 'ECDSA' ? asked.hash : key.algorithm.hash).native;
    const digest = native.digest(hash, data);
    const done = (made) => must(made, 'OperationError', `cannot ${doing} with this key`);
    if (asked.name === 'ECDSA') {
      const name = key.algorithm.namedCurve;
      return done(signature ? curve.verify(name, held, digest, signature) : curve.sign(name, held, digest));
    }
    const salt = asked.name === 'RSA-PSS' ? Number(must(asked.saltLength, 'OperationError', 'RSA-PSS needs a saltLength')) : null;
    return done(signature ? rsa.verify(hash, salt, held, digest, signature) : rsa.sign(hash, salt, held, digest));
  };

  const derive = (asked, key, length, usage) => {
    const held = keyFor(key, asked, usage);
    if (asked.name === 'ECDH') {
      const other = asked.public;
      if (!(other instanceof CryptoKey) || other.type !== 'public') fail('InvalidAccessError', 'ECDH: public must be a public key');
      if (other.algorithm.namedCurve !== key.algorithm.namedCurve || other.algorithm.name !== 'ECDH') fail('InvalidAccessError', 'ECDH: both keys must be of one curve');
      const secret = must(curve.agree(key.algorithm.namedCurve, held, dataOf(other)), 'OperationError', 'ECDH: these keys do not go together');
      const bits = length ?? secret.byteLength * 8;
      if (bits > secret.byteLength * 8) fail('OperationError', `ECDH: there are only ${secret.byteLength * 8} bits`);
      const cut = new Uint8Array(secret.slice(0, Math.ceil(bits / 8)));
      if (bits % 8) cut[cut.length - 1] &= 0xff << (8 - (bits % 8));
      return cut.buffer;
    }
    if (asked.name !== 'PBKDF2' && asked.name !== 'HKDF') fail('NotSupportedError', `${asked.name} cannot derive anything`);
    if (!Number.isInteger(length) || length <= 0 || length % 8) fail('OperationError', `${asked.name}: the length must be a multiple of 8 bits`);
    const hash = hashOf(asked.hash).native;
    const salt = bytes(asked.salt, 'salt');
    if (asked.name === 'HKDF') return must(native.hkdf(hash, held, salt, bytes(asked.info, 'info'), length / 8), 'OperationError', 'HKDF: the length is too long');
    if (!(asked.iterations > 0)) fail('OperationError', 'PBKDF2: iterations must be 1 or more');
    return native.pbkdf2(hash, held, salt, asked.iterations, length / 8);
  };
  const lengthFor = (asked) => {
    if (isAes(asked.name)) return aesLength(asked);
    if (asked.name === 'HMAC') return asked.length ?? hashOf(asked.hash).block * 8;
    return null;
  };

  // Whatever goes wrong rejects the promise.
  class SubtleCrypto {
    async digest(hash, data) {
      const copy = bytes(data, 'digest: the data');
      return native.digest(hashOf(hash).native, copy);
    }
    async generateKey(asked, extractable, usages) { return generateKey(algorithm(asked, 'generateKey'), extractable, [...usages]); }
    async importKey(format, data, asked, extractable, usages) { return importKey(format, data, algorithm(asked, 'importKey'), extractable, [...usages]); }
    async exportKey(format, key) { return exportKey(format, key); }
    async encrypt(asked, key, data) { return crypt(algorithm(asked, 'encrypt'), key, bytes(data, 'encrypt: the data'), 'encrypt'); }
    async decrypt(asked, key, data) { return crypt(algorithm(asked, 'decrypt'), key, bytes(data, 'decrypt: the data'), 'decrypt'); }
    async sign(asked, key, data) { return signing(algorithm(asked, 'sign'), key, bytes(data, 'sign: the data')); }
    async verify(asked, key, signature, data) {
      return signing(algorithm(asked, 'verify'), key, bytes(data, 'verify: the data'), bytes(signature, 'verify: the signature'));
    }
    async deriveBits(asked, key, length) { return derive(algorithm(asked, 'deriveBits'), key, length ?? null, 'deriveBits'); }
    async deriveKey(asked, key, wanted, extractable, usages) {
      const made = algorithm(wanted, 'deriveKey');
      const bits = derive(algorithm(asked, 'deriveKey'), key, lengthFor(made), 'deriveKey');
      return importKey('raw', bits, made, extractable, [...usages]);
    }
    async wrapKey() { fail('NotSupportedError', 'wrapKey is not supported: export the key and encrypt it'); }
    async unwrapKey() { fail('NotSupportedError', 'unwrapKey is not supported: decrypt the key and import it'); }
    get [Symbol.toStringTag]() { return 'SubtleCrypto'; }
  }

  const RANDOM_MAX = 65536;
  class Crypto {
    #subtle = new SubtleCrypto();
    get subtle() { return this.#subtle; }
    getRandomValues(array) {
      if (!ArrayBuffer.isView(array) || array instanceof DataView || /^(Float|BigFloat)/.test(array[Symbol.toStringTag])) {
        fail('TypeMismatchError', 'getRandomValues() fills typed arrays of integers');
      }
      if (array.byteLength > RANDOM_MAX) fail('QuotaExceededError', `getRandomValues() gives at most ${RANDOM_MAX} bytes, not ${array.byteLength}`);
      new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(new Uint8Array(native.random(array.byteLength)));
      return array;
    }
    randomUUID() { return native.uuid(); }
    get [Symbol.toStringTag]() { return 'Crypto'; }
  }
  return { crypto: new Crypto(), CryptoKey };
})
