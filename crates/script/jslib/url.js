// URL and URLSearchParams, by the rules that browsers follow, for hosts in ASCII.

const DEFAULT_PORTS = { 'http:': '80', 'https:': '443', 'ws:': '80', 'wss:': '443', 'ftp:': '21', 'file:': '' };
const isSpecial = (protocol) => Object.hasOwn(DEFAULT_PORTS, protocol);

// Percent-encodes what `keep` does not match; what is encoded already stays.
const encode = (text, keep) => [...text].map((char) => keep.test(char) ? char
  : char.charCodeAt(0) >= 0xd800 && char.charCodeAt(0) <= 0xdfff && char.length === 1 ? '%EF%BF%BD'
    : char.charCodeAt(0) < 128 ? `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}` : encodeURIComponent(char)).join('');
const IN_PATH = /[!$%&'()*+,\-./:;=@\w~\[\]\\|^]/, IN_QUERY = /[!$%&()*+,\-./:;=?@\w~\[\]\\|^`{}]/, IN_HASH = /[!$%&'()*+,\-./:;=?@\w~\[\]\\|^{}#]/, IN_USER = /[!$%&'()*+,\-.\w~]/;

const formEncode = (text) => encode(text, /[*\-.\w ]/).replace(/ /g, '+');
function formDecode(text) {
  const spaced = text.replace(/\+/g, ' ');
  try { return decodeURIComponent(spaced); } catch {
    return spaced.replace(/(%[0-9a-f]{2})+/gi, (run) => { try { return decodeURIComponent(run); } catch { return run.replace(/%[89a-f][0-9a-f]/gi, '\ufffd').replace(/%([0-7][0-9a-f])/gi, (_, hex) => String.fromCharCode(parseInt(hex, 16))); } });
  }
}

export class URLSearchParams {
  #list = [];
  #changed = () => {};

  constructor(init = '', changed) {
    if (typeof changed === 'function') this.#changed = changed;
    if (init === null || typeof init !== 'object') this.#read(String(init));
    else if (typeof init[Symbol.iterator] === 'function') {
      for (const pair of init) {
        const [name, value, ...more] = pair;
        if (value === undefined || more.length > 0) throw new TypeError('URLSearchParams: each pair must have a name and a value');
        this.#list.push([String(name), String(value)]);
      }
    } else for (const name of Object.keys(init)) this.#list.push([name, String(init[name])]);
  }

  #read(text) {
    for (const part of text.replace(/^\?/, '').split('&')) {
      if (part === '') continue;
      const at = part.indexOf('=');
      this.#list.push(at < 0 ? [formDecode(part), ''] : [formDecode(part.slice(0, at)), formDecode(part.slice(at + 1))]);
    }
  }

  get size() { return this.#list.length; }
  append(name, value) { this.#list.push([String(name), String(value)]); this.#changed(this.toString()); }
  delete(name, value) {
    this.#list = this.#list.filter(([one, its]) => one !== String(name) || (value !== undefined && its !== String(value)));
    this.#changed(this.toString());
  }
  get(name) { return this.#list.find(([one]) => one === String(name))?.[1] ?? null; }
  getAll(name) { return this.#list.filter(([one]) => one === String(name)).map(([, value]) => value); }
  has(name, value) { return this.#list.some(([one, its]) => one === String(name) && (value === undefined || its === String(value))); }
  set(name, value) {
    const at = this.#list.findIndex(([one]) => one === String(name));
    if (at < 0) return this.append(name, value);
    this.#list[at][1] = String(value);
    this.#list = this.#list.filter(([one], i) => i <= at || one !== String(name));
    this.#changed(this.toString());
  }
  sort() { this.#list.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)); this.#changed(this.toString()); }
  forEach(callback, self) { for (const [name, value] of this.#list) callback.call(self, value, name, this); }
  *entries() { for (const pair of this.#list) yield [...pair]; }
  *keys() { for (const [name] of this.#list) yield name; }
  *values() { for (const [, value] of this.#list) yield value; }
  [Symbol.iterator]() { return this.entries(); }
  toString() { return this.#list.map(([name, value]) => `${formEncode(name)}=${formEncode(value)}`).join('&'); }
}

function normalPath(path, special) {
  const parts = [];
  const all = (special ? path.replace(/\\/g, '/') : path).split('/');
  all.shift();
  all.forEach((part, i) => {
    const plain = part.replace(/%2e/gi, '.');
    const isLast = i === all.length - 1;
    if (plain === '..') { parts.pop(); if (isLast) parts.push(''); } else if (plain === '.') { if (isLast) parts.push(''); } else parts.push(part);
  });
  return `/${parts.map((part) => encode(part, IN_PATH)).join('/')}`;
}

function hostOf(text, special) {
  if (/^\[[0-9a-f:.]+\]$/i.test(text)) return text.toLowerCase();
  if (!special) return text;
  let host;
  try { host = decodeURIComponent(text).toLowerCase(); } catch { host = ''; }
  if (/[^\x00-\x7f]/.test(host)) throw new TypeError(`URL: the host '${text}' must be written in ASCII here (xn--…)`);
  if (host === '' || /[\x00-\x20#%/:<>?@[\\\]^|]/.test(host)) throw new TypeError(`Invalid URL: the host '${text}' is none`);
  return host;
}

export class URL {
  #protocol = ''; #username = ''; #password = ''; #hostname = ''; #port = ''; #pathname = ''; #search = ''; #hash = ''; #hasHost = false;
  #params;

  constructor(url, base) {
    const text = String(url).replace(/^[\x00-\x20]+|[\x00-\x20]+$/g, '').replace(/[\t\n\r]/g, '');
    const scheme = /^[a-z][a-z0-9+.\-]*:/i.exec(text)?.[0].toLowerCase();
    if (scheme === undefined) {
      if (base === undefined) throw new TypeError(`Invalid URL: ${text}`);
      this.#relative(text, new URL(base));
    } else this.#absolute(scheme, text.slice(scheme.length));
    this.#params = new URLSearchParams(this.#search, (query) => { this.#search = query === '' ? '' : `?${query}`; });
  }

  static canParse(url, base) { try { new URL(url, base); return true; } catch { return false; } }

  #tail(text) {
    const hash = text.indexOf('#');
    this.#hash = hash < 0 || hash === text.length - 1 ? '' : `#${encode(text.slice(hash + 1), IN_HASH)}`;
    const before = hash < 0 ? text : text.slice(0, hash);
    const query = before.indexOf('?');
    this.#search = query < 0 || query === before.length - 1 ? '' : `?${encode(before.slice(query + 1), IN_QUERY)}`;
    return query < 0 ? before : before.slice(0, query);
  }

  #authority(text) {
    const at = text.lastIndexOf('@');
    if (at >= 0) {
      const [, user, password = ''] = /^([^:]*):?(.*)$/.exec(text.slice(0, at));
      [this.#username, this.#password] = [encode(user, IN_USER), encode(password, IN_USER)];
    }
    const found = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(text.slice(at + 1));
    if (!found || Number(found[2] ?? 0) > 65535) throw new TypeError(`Invalid URL: '${text}' is no host and port`);
    this.#hostname = this.#protocol === 'file:' && found[1] === '' ? '' : hostOf(found[1], isSpecial(this.#protocol));
    this.#hasHost = true;
    this.#setPort(found[2] ?? '');
  }

  #setPort(text) { this.#port = text === '' || String(Number(text)) === DEFAULT_PORTS[this.#protocol] ? '' : String(Number(text)); }

  #absolute(scheme, rest) {
    this.#protocol = scheme;
    const special = isSpecial(scheme);
    const path = this.#tail(rest);
    const found = special ? /^[/\\]*([^/\\]*)(.*)$/s.exec(path) : /^\/\/([^/]*)(.*)$/s.exec(path);
    if (!found) { this.#pathname = path.startsWith('/') ? normalPath(path, false) : path; return; }
    if (scheme === 'file:' && /^\/{3,}|^\/?[^/]/.test(path)) { this.#hasHost = true; this.#pathname = normalPath(`/${path.replace(/^\/+/, '')}`, true); return; }
    this.#authority(found[1]);
    this.#pathname = found[2] === '' && !special ? '' : normalPath(found[2] || '/', special);
  }

  #relative(text, base) {
    this.#protocol = base.protocol;
    const special = isSpecial(this.#protocol);
    if (/^\/\//.test(text) || (special && /^[/\\]{2}/.test(text))) return this.#absolute(base.protocol, text);
    if (!base.#hasHost && !base.pathname.startsWith('/') && !text.startsWith('#')) throw new TypeError(`Invalid URL: ${text} leads nowhere from ${base.href}`);
    [this.#username, this.#password, this.#hostname, this.#port, this.#hasHost] = [base.username, base.password, base.hostname, base.port, base.#hasHost];
    const path = this.#tail(text);
    if (path === '') {
      this.#pathname = base.pathname;
      if (!text.startsWith('?')) this.#search = base.search;
    } else if (/^[/\\]/.test(path)) this.#pathname = normalPath(path, special);
    else this.#pathname = normalPath(base.pathname.slice(0, base.pathname.lastIndexOf('/') + 1) + path, special);
  }

  get protocol() { return this.#protocol; }
  set protocol(value) { const scheme = /^[a-z][a-z0-9+.\-]*/i.exec(value)?.[0]; if (scheme && isSpecial(`${scheme}:`) === isSpecial(this.#protocol)) { this.#protocol = `${scheme.toLowerCase()}:`; this.#setPort(this.#port); } }
  get username() { return this.#username; }
  set username(value) { this.#username = encode(String(value), IN_USER); }
  get password() { return this.#password; }
  set password(value) { this.#password = encode(String(value), IN_USER); }
  get hostname() { return this.#hostname; }
  set hostname(value) { try { this.#hostname = hostOf(String(value), isSpecial(this.#protocol)); } catch { /* As in browsers, a wrong host changes nothing. */ } }
  get port() { return this.#port; }
  set port(value) { const digits = /^\d*/.exec(String(value))[0]; if (Number(digits) <= 65535) this.#setPort(digits); }
  get host() { return this.#hostname + (this.#port === '' ? '' : `:${this.#port}`); }
  set host(value) { const [, name, port] = /^(\[[^\]]*\]|[^:]*):?(\d*)/.exec(String(value)); this.hostname = name; if (port !== '') this.port = port; }
  get origin() { return isSpecial(this.#protocol) && this.#protocol !== 'file:' ? `${this.#protocol}//${this.host}` : 'null'; }
  get pathname() { return this.#pathname; }
  set pathname(value) { const text = String(value); this.#pathname = normalPath(/^[/\\]/.test(text) ? text : `/${text}`, isSpecial(this.#protocol)).replace(/[?#]/g, (c) => (c === '?' ? '%3F' : '%23')); }
  get search() { return this.#search; }
  set search(value) {
    const text = String(value).replace(/^\?/, '');
    this.#search = text === '' ? '' : `?${encode(text, IN_QUERY).replace(/#/g, '%23')}`;
    this.#params = new URLSearchParams(this.#search, (query) => { this.#search = query === '' ? '' : `?${query}`; });
  }
  get searchParams() { return this.#params; }
  get hash() { return this.#hash; }
  set hash(value) { const text = String(value).replace(/^#/, ''); this.#hash = text === '' ? '' : `#${encode(text, IN_HASH)}`; }
  get href() {
    const user = this.#username === '' && this.#password === '' ? '' : `${this.#username}${this.#password === '' ? '' : `:${this.#password}`}@`;
    return `${this.#protocol}${this.#hasHost ? `//${user}${this.host}` : ''}${this.#pathname}${this.#search}${this.#hash}`;
  }
  set href(value) {
    const other = new URL(value);
    [this.#protocol, this.#username, this.#password, this.#hostname, this.#port, this.#pathname, this.#hash, this.#hasHost] =
      [other.protocol, other.username, other.password, other.hostname, other.port, other.pathname, other.hash, other.#hasHost];
    this.search = other.search;
  }
  toString() { return this.href; }
  toJSON() { return this.href; }
}

export default { URL, URLSearchParams };
