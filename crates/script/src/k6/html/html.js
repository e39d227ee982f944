// Selections and elements of `k6/html`. A selection is a page and numbers of its nodes.
(function (native, makeTyped) {
  'use strict';
  const { parse: parseJson } = JSON;
  const fail = (text) => { throw new TypeError(text); };
  const callable = (name, f) => typeof f === 'function' ? f : fail(`${name}() takes a function, not ${f === null ? 'null' : typeof f}`);
  const whole = (value) => Math.trunc(Number(value ?? 0)) || 0;
  const camel = (name) => name.replace(/-+(.?)/g, (_, c) => c.toUpperCase());
  const kebab = (name) => name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();
  // What a data attribute is taken for; undefined if there is nothing in it.
  const converted = (text) => {
    if (text === undefined || text === '' || text === 'null') return undefined;
    if (text === 'true' || text === 'false') return text === 'true';
    if (/^-?\d/.test(text) && String(Number(text)) === text) return Number(text);
    if (/^\s*[{[]/.test(text)) { try { return parseJson(text); } catch { return text; } }
    return text;
  };

  class Selection {
    #page; #ids; #before;
    constructor(page, ids, before) { this.#page = page; this.#ids = ids; this.#before = before; }
    static page(one) { return one.#page; }
    static ids(one) { return one.#ids; }
    #of(ids) { return new Selection(this.#page, ids, this); }
    // Those of `ids` that a selector, Selection or Element names.
    #kept(name, ids, what) {
      if (typeof what === 'string') return native.keep(this.#page, ids, what);
      const wanted = new Set(this.#given(name, what));
      return ids.filter((id) => wanted.has(id));
    }
    #given(name, what) {
      if (what instanceof Selection) return what.#page === this.#page ? what.#ids : [];
      if (what instanceof Element) return Element.page(what) === this.#page ? [Element.id(what)] : [];
      return fail(`${name}() takes a selector, a Selection or an Element, not ${what === null ? 'null' : typeof what}`);
    }
    #related(kind, name, only, ids = this.#ids) {
      const found = native.related(this.#page, ids, kind);
      return only === undefined || only === null ? found : this.#kept(name, found, only);
    }
    #until(kind, name, end, only) {
      const found = new Set();
      for (const id of this.#ids) {
        const line = this.#related(kind, name, undefined, [id]);
        const ends = new Set(end === undefined || end === null ? [] : this.#kept(name, line, end));
        for (const one of line) { if (ends.has(one)) break; found.add(one); }
      }
      const ids = [...found];
      return this.#of(only === undefined || only === null ? ids : this.#kept(name, ids, only));
    }
    #inside(id, ids) { return native.related(this.#page, [id], 'parents').some((one) => ids.includes(one)) || (ids.includes(0) && id !== 0); }
    #first(read, none) { return this.#ids.length === 0 ? none : read(this.#ids[0]); }
    #tested(name, what) {
      if (typeof what === 'function') return this.#ids.filter((id, i) => what(i, this.#of([id])));
      return this.#kept(name, this.#ids, what);
    }

    find(what) {
      if (typeof what === 'string') return this.#of(native.find(this.#page, this.#ids, what));
      return this.#of(this.#given('find', what).filter((id) => this.#inside(id, this.#ids)));
    }
    single(selector) { return this.#of(Selection.ids(this.find(selector)).slice(0, 1)); }
    add(what) {
      const more = typeof what === 'string' ? native.find(this.#page, [0], what) : this.#given('add', what);
      return this.#of([...new Set([...this.#ids, ...more])]);
    }
    filter(what) { return this.#of(this.#tested('filter', what)); }
    not(what) { const out = new Set(this.#tested('not', what)); return this.#of(this.#ids.filter((id) => !out.has(id))); }
    is(what) { return this.#tested('is', what).length > 0; }
    has(what) {
      if (typeof what === 'string') return this.#of(this.#ids.filter((id) => native.find(this.#page, [id], what).length > 0));
      const ids = this.#given('has', what);
      return this.#of(this.#ids.filter((id) => ids.some((one) => this.#inside(one, [id]))));
    }
    closest(what) {
      const found = new Set();
      for (const id of this.#ids) {
        const [first] = this.#kept('closest', [id, ...native.related(this.#page, [id], 'parents')], what);
        if (first !== undefined) found.add(first);
      }
      return this.#of([...found]);
    }
    children(only) { return this.#of(this.#related('children', 'children', only)); }
    contents() { return this.#of(this.#related('contents', 'contents')); }
    parent(only) { return this.#of(this.#related('parent', 'parent', only)); }
    parents(only) { return this.#of(this.#related('parents', 'parents', only)); }
    parentsUntil(end, only) { return this.#until('parents', 'parentsUntil', end, only); }
    siblings(only) { return this.#of(this.#related('siblings', 'siblings', only)); }
    next(only) { return this.#of(this.#related('next', 'next', only)); }
    nextAll(only) { return this.#of(this.#related('nextAll', 'nextAll', only)); }
    nextUntil(end, only) { return this.#until('nextAll', 'nextUntil', end, only); }
    prev(only) { return this.#of(this.#related('prev', 'prev', only)); }
    prevAll(only) { return this.#of(this.#related('prevAll', 'prevAll', only)); }
    prevUntil(end, only) { return this.#until('prevAll', 'prevUntil', end, only); }
    end() { return this.#before ?? new Selection(this.#page, []); }
    eq(index) { const id = this.#ids.at(whole(index)); return this.#of(id === undefined ? [] : [id]); }
    first() { return this.#of(this.#ids.slice(0, 1)); }
    last() { return this.#of(this.#ids.slice(-1)); }
    slice(from, to) { return this.#of(this.#ids.slice(whole(from), to === undefined ? undefined : whole(to))); }
    size() { return this.#ids.length; }
    get(index) {
      if (index === undefined) return this.#ids.map((id) => wrap(this.#page, id));
      const id = this.#ids.at(whole(index));
      return id === undefined ? undefined : wrap(this.#page, id);
    }
    toArray() { return this.#ids.map((id) => this.#of([id])); }
    each(f) { callable('each', f); this.#ids.forEach((id, i) => { f(i, wrap(this.#page, id)); }); return this; }
    map(f) { callable('map', f); return this.#ids.map((id, i) => f(i, this.#of([id]))); }
    index(what) {
      if (this.#ids.length === 0) return -1;
      if (what === undefined) return native.related(this.#page, this.#ids.slice(0, 1), 'prevAll').length;
      if (typeof what === 'string') return native.find(this.#page, [0], what).indexOf(this.#ids[0]);
      const [first] = this.#given('index', what);
      return first === undefined ? -1 : this.#ids.indexOf(first);
    }
    attr(name, otherwise) { return this.#first((id) => native.attribute(this.#page, id, String(name)) ?? undefined, undefined) ?? otherwise; }
    html() { return this.#first((id) => native.inner(this.#page, id), ''); }
    text() { return this.#ids.map((id) => native.text(this.#page, id)).join(''); }
    data(name) {
      if (this.#ids.length === 0) return undefined;
      if (name !== undefined) return converted(this.attr(`data-${kebab(String(name))}`));
      const all = {};
      for (const [key, text] of native.attributes(this.#page, this.#ids[0])) {
        const value = key.startsWith('data-') ? converted(text) : undefined;
        if (value !== undefined) all[camel(key.slice(5))] = value;
      }
      return all;
    }
    val() {
      return this.#first((id) => {
        const one = this.#of([id]);
        const [, tag] = native.about(this.#page, id);
        switch (tag) {
          case 'input': return one.attr('value', ['checkbox', 'radio'].includes(one.attr('type')) ? 'on' : '');
          case 'button': return one.attr('value', '');
          case 'option': return one.attr('value') ?? one.text();
          case 'textarea': return one.text();
          case 'select': {
            const chosen = one.find('option[selected]');
            if (one.attr('multiple') !== undefined) return chosen.map((_, option) => option.val());
            return chosen.size() === 0 ? '' : chosen.first().val();
          }
          default: return undefined;
        }
      }, undefined);
    }
    serializeArray() {
      const fields = 'input,select,textarea,keygen';
      const sent = ':not([type=submit], [type=button], [type=reset], [type=image], [type=file])';
      const found = new Set(this.#ids.flatMap((id) => native.about(this.#page, id)[1] === 'form' ? native.find(this.#page, [id], fields) : [id]));
      const filled = this.#of([...found]).filter(fields).filter(`[name]${sent}`).not('[disabled=disabled]');
      const chosen = filled.not('[type=checkbox]:not([checked=checked]), [type=radio]:not([checked=checked])');
      return chosen.map((_, field) => ({ name: field.attr('name'), value: field.val() }));
    }
    serializeObject() {
      const all = {};
      for (const { name, value } of this.serializeArray()) all[name] = value;
      return all;
    }
    serialize() { return query(this.serializeObject()); }
  }

  // Sorted by key, as k6 writes it.
  const coded = (text) => encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`).replace(/%20/g, '+');
  const query = (fields) => Object.keys(fields).sort()
    .flatMap((key) => [fields[key]].flat().map((value) => `${coded(key)}=${coded(value ?? '')}`)).join('&');

  class Attribute {
    constructor(owner, name, value) { this.owner_element = owner; this.name = name; this.value = value; }
    localName() { return this.name; }
    namespaceURI() { return this.owner_element.namespaceURI(); }
    prefix() { return ''; }
  }

  class Element {
    #page; #id; #about;
    constructor(page, id, about) { this.#page = page; this.#id = id; this.#about = about; }
    static page(one) { return one.#page; }
    static id(one) { return one.#id; }
    #list(kind) { return native.related(this.#page, [this.#id], kind); }
    #wrapped(ids) { return ids.map((id) => wrap(this.#page, id)); }
    #one(id) { return id === undefined ? undefined : wrap(this.#page, id); }
    attributes() {
      const all = {};
      for (const [name, value] of native.attributes(this.#page, this.#id)) all[name] = new Attribute(this, name, value);
      return all;
    }
    childElementCount() { return this.#list('children').length; }
    childNodes() { return this.#wrapped(this.#list('contents')); }
    children() { return this.#wrapped(this.#list('children')); }
    classList() { return (this.getAttribute('class') ?? '').split(/\s+/).filter(Boolean); }
    className() { return this.getAttribute('class'); }
    contains(other) { return other instanceof Element && other.#page === this.#page && other.#id !== this.#id && (this.#id === 0 || other.#list('parents').includes(this.#id)); }
    firstChild() { return this.#one(this.#list('contents')[0]); }
    firstElementChild() { return this.#one(this.#list('children')[0]); }
    getAttribute(name) { return native.attribute(this.#page, this.#id, String(name)) ?? undefined; }
    getAttributeNode(name) { return this.attributes()[name]; }
    getElementsByClassName(name) { return this.querySelectorAll(`.${name}`); }
    getElementsByTagName(name) { return this.querySelectorAll(String(name)); }
    hasAttribute(name) { return this.getAttribute(name) !== undefined; }
    hasAttributes() { return native.attributes(this.#page, this.#id).length > 0; }
    hasChildNodes() { return this.#list('contents').length > 0; }
    id() { return this.getAttribute('id') ?? ''; }
    innerHTML() { return native.inner(this.#page, this.#id); }
    isDefaultNamespace() { return this.namespaceURI() === 'http://www.w3.org/1999/xhtml'; }
    isEqualNode(other) { return other instanceof Element && native.outer(this.#page, this.#id) === native.outer(other.#page, other.#id); }
    isSameNode(other) { return other instanceof Element && this.#page === other.#page && this.#id === other.#id; }
    lang() { return this.getAttribute('lang'); }
    lastChild() { return this.#one(this.#list('contents').at(-1)); }
    lastElementChild() { return this.#one(this.#list('children').at(-1)); }
    matches(selector) { return this.selection().is(selector); }
    namespaceURI() { return this.#about[2]; }
    nextElementSibling() { return this.#one(this.#list('next')[0]); }
    nextSibling() { return this.#one(this.#list('after')[0]); }
    nodeName() { return this.#about[1]; }
    nodeType() { return this.#about[0]; }
    nodeValue() { return this.#about[0] === 8 ? '' : this.#about[3] ?? undefined; }
    ownerDocument() { return wrap(this.#page, 0); }
    parentElement() { return this.#one(this.#list('parent')[0]); }
    parentNode() { return this.#one(this.#list('above')[0]); }
    previousElementSibling() { return this.#one(this.#list('prev')[0]); }
    previousSibling() { return this.#one(this.#list('before')[0]); }
    querySelector(selector) { return this.querySelectorAll(selector)[0]; }
    querySelectorAll(selector) { return this.#wrapped(native.find(this.#page, [this.#id], String(selector))); }
    selection() { return new Selection(this.#page, [this.#id]); }
    textContent() { return native.text(this.#page, this.#id); }
    toString() { return this.#about[0] === 1 ? '[object html.Node]' : `[object ${this.#about[1]}]`; }
  }

  const typed = makeTyped(Element);
  const wrap = (page, id) => {
    const about = native.about(page, id);
    const kind = about[0] === 1 ? typed.get(about[1]) ?? Element : Element;
    return new kind(page, id, about);
  };
  // k6's methods can be enumerated.
  for (const kind of [Selection, Element, ...typed.values()]) {
    for (const name of Object.getOwnPropertyNames(kind.prototype)) {
      if (name !== 'constructor') Object.defineProperty(kind.prototype, name, { enumerable: true });
    }
  }

  const parseHTML = (text) => new Selection(native.parse(text === undefined || text === null ? '' : String(text)), [0]);
  return { parseHTML, query, join: native.join };
})
