// What elements of each tag offer beyond what all offer: one table, in which each member is a way to read.
(function (Element) {
  'use strict';
  const text = (name, otherwise = '') => (e) => e.getAttribute(name) ?? otherwise;
  const filled = (name, otherwise) => (e) => e.getAttribute(name) || otherwise;
  const flag = (name) => (e) => e.hasAttribute(name);
  const number = (name, otherwise = 0) => (e) => { const value = e.getAttribute(name) ?? ''; return /^[+-]?\d+$/.test(value) ? Number(value) : otherwise; };
  const choice = (name, otherwise, ...others) => (e) => { const value = e.getAttribute(name); return others.includes(value) ? value : otherwise; };
  const fixed = (value) => () => value;
  const content = (e) => e.textContent();
  const all = (selector) => (e) => e.querySelectorAll(selector);
  const above = (selector) => (e) => e.selection().closest(selector).get(0);
  const top = (e) => e.ownerDocument().selection();
  const byId = (e, id) => id === undefined ? undefined : top(e).find('[id]').filter((_, one) => one.attr('id') === id).get(0);
  const place = (e, list) => list.findIndex((one) => one.isSameNode(e));
  const formOf = (e) => byId(e, e.getAttribute('form')) ?? above('form')(e);
  const labels = (e) => {
    const around = e.selection().parents('label').get();
    const id = e.getAttribute('id');
    const named = id === undefined ? [] : top(e).find('label[for]').filter((_, one) => one.attr('for') === id).get();
    return [...around, ...named.filter((one) => place(one, around) < 0)];
  };
  const encodings = ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'];
  const encoding = choice('enctype', encodings[0], ...encodings);
  const referrerPolicy = choice('referrerpolicy', '', 'no-referrer', 'no-referrer-when-downgrade', 'origin', 'origin-when-cross-origin', 'unsafe-url');
  const crossOrigin = choice('crossorigin', undefined, 'anonymous', 'use-credentials');
  const words = (name) => (e) => { const value = e.getAttribute(name) ?? ''; return value === '' ? [] : value.split(' '); };

  // The parts of a URL, by RFC 3986; none if it has a broken escape.
  const parts = (e) => {
    const [, scheme = '', authority, path, search, hash] = /^(?:([a-zA-Z][\w+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s.exec(e.getAttribute('href') ?? '') ?? [];
    const [, user, password, host = ''] = /^(?:([^:@]*)(?::([^@]*))?@)?(.*)$/s.exec(authority ?? '');
    const [, hostname, port] = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(host) ?? [, host, ''];
    let pathname = path ?? '';
    try { pathname = decodeURIComponent(pathname); } catch { return { scheme: '', host: '', hostname: '', path: '' }; }
    if (scheme !== '' && authority === undefined && !pathname.startsWith('/')) pathname = '';
    else if (pathname !== '' && !pathname.startsWith('/')) pathname = `/${pathname}`;
    return { scheme: scheme.toLowerCase(), user, password, host, hostname: hostname.replace(/[[\]]/g, ''), port, path: pathname, search, hash };
  };
  const link = {
    accessKey: text('accesskey'), download: text('download'), hash: (e) => { const { hash } = parts(e); return hash ? `#${hash}` : ''; },
    host: (e) => { const { scheme, host } = parts(e); return host.replace({ http: /:80$/, https: /:443$/ }[scheme] ?? /:$/, ''); }, hostname: (e) => parts(e).hostname, href: text('href'), hrefLang: text('hreflang'),
    origin: (e) => { const { scheme, host } = parts(e); return scheme === '' ? '' : `${scheme}://${host}`; },
    password: (e) => parts(e).password ?? '', pathname: (e) => parts(e).path, port: (e) => parts(e).port ?? '', protocol: (e) => parts(e).scheme || ':',
    referrerPolicy, rel: text('rel'), relList: words('rel'), search: (e) => { const { search } = parts(e); return search ? `?${search}` : ''; },
    target: text('target'), text: content, type: text('type'), username: (e) => parts(e).user ?? '',
  };
  const media = {
    autoplay: flag('autoplay'), controls: flag('controls'), crossOrigin, currentSrc: text('src'), defaultMuted: flag('muted'), loop: flag('loop'),
    mediaGroup: text('mediagroup'), muted: flag('muted'), preload: choice('preload', 'auto', 'metadata', 'none'), src: text('src'), textTracks: all('track'),
  };
  // What a button or input takes from its form unless it says otherwise.
  const ofForm = (own, its, otherwise) => (e) => e.getAttribute(own) ?? formOf(e)?.getAttribute(its) ?? otherwise;
  const field = {
    accessKey: text('accesskey'), autofocus: flag('autofocus'), disabled: flag('disabled'), form: formOf, formAction: ofForm('formaction', 'action', ''),
    formEnctype: (e) => { const value = ofForm('formenctype', 'enctype', '')(e); return encodings.includes(value) ? value : encodings[0]; },
    formMethod: (e) => ofForm('formmethod', 'method', '')(e).toLowerCase() === 'post' ? 'post' : 'get',
    formNoValidate: (e) => e.hasAttribute('formnovalidate') || (formOf(e)?.hasAttribute('novalidate') ?? false),
    formTarget: ofForm('formtarget', 'target', ''), labels, name: text('name'), tabIndex: number('tabindex'),
  };
  const change = { cite: text('cite'), datetime: text('datetime') };
  const rows = { rows: all('tr') };
  const cell = { cellIndex: (e) => e.selection().prevAll('td,th').size(), colSpan: number('colspan', 1), headers: text('headers'), rowSpan: number('rowspan', 1) };
  const elements = all('button,fieldset,input,select,textarea');
  const options = all('option');
  const selected = all('option[selected]');
  const optionValue = (e) => e.getAttribute('value') ?? e.textContent();
  const position = (e) => {
    const [value, most] = [number('value', -1)(e), number('max', 1)(e)];
    return value < 0 ? -1 : value / (most > 0 ? most : 1);
  };
  const types = 'button checkbox color date datetime-local email file hidden image month number password radio range reset search submit tel text time url week'.split(' ');

  const table = {
    a: link, area: link, audio: media, video: media, del: change, ins: change, tbody: rows, thead: rows, tfoot: rows, td: cell,
    base: { href: text('href'), target: text('target') },
    button: { ...field, type: choice('type', 'submit', 'button', 'menu', 'reset'), value: optionValue },
    canvas: { height: number('height', 150), width: number('width', 150) },
    col: { span: (e) => Math.max(1, number('span', 1)(e)) },
    data: { value: text('value') },
    datalist: { options },
    embed: { height: text('height'), src: text('src'), type: text('type'), width: text('width') },
    fieldset: { disabled: flag('disabled'), elements, form: formOf, name: text('name'), type: fixed('fieldset'), validity: fixed(undefined) },
    form: {
      acceptCharset: text('accept-charset'), action: text('action'), autocomplete: choice('autocomplete', 'on', 'off'), elements, encoding, enctype: encoding,
      length: (e) => elements(e).length, method: choice('method', 'get', 'post', 'dialog'), name: text('name'), noValidate: flag('novalidate'), target: text('target'),
    },
    iframe: { allowfullscreen: flag('allowfullscreen'), height: text('height'), name: text('name'), referrerPolicy, src: text('src'), width: text('width') },
    img: {
      alt: text('alt'), crossOrigin, currentSrc: text('src'), height: number('height'), isMap: flag('ismap'), name: text('name'), referrerPolicy,
      sizes: text('sizes'), src: text('src'), srcset: text('srcset'), useMap: text('usemap'), width: number('width'),
    },
    input: {
      ...field, accept: text('accept'), alt: text('alt'), autocomplete: choice('autocomplete', 'on', 'off'), checked: flag('checked'), defaultChecked: flag('checked'),
      defaultValue: text('value'), dirName: text('dirname'), height: text('height'), list: (e) => byId(e, e.getAttribute('list')), max: text('max'),
      maxLength: number('maxlength', -1), min: text('min'), multiple: flag('multiple'), pattern: text('pattern'), placeholder: text('placeholder'),
      readonly: flag('readonly'), required: flag('required'), size: number('size'), src: text('src'), step: text('step'), type: choice('type', 'text', ...types),
      value: text('value'), width: text('width'),
    },
    keygen: { autofocus: flag('autofocus'), challenge: text('challenge'), disabled: flag('disabled'), form: formOf, keytype: choice('keytype', 'RSA', 'DSA', 'EC'), labels, name: text('name'), type: fixed('keygen') },
    label: { control: (e) => byId(e, e.getAttribute('for')), form: formOf, htmlFor: text('for') },
    legend: { accessKey: text('accesskey'), form: formOf },
    li: { type: choice('type', '', '1', 'a', 'A', 'i', 'I', 'disc', 'square', 'circle'), value: number('value') },
    link: { crossOrigin, href: text('href'), hreflang: text('hreflang'), media: text('media'), referrerPolicy, rel: text('rel'), relList: words('rel'), target: text('target'), type: text('type') },
    map: { areas: all('area'), images: (e) => e.selection().find('img[usemap], object[usemap]').filter((_, one) => one.attr('usemap') === `#${e.getAttribute('name')}`).get(), name: text('name') },
    meta: { content: text('content'), httpEquiv: choice('http-equiv', 'content-type', 'default-style', 'refresh'), name: text('name') },
    meter: { high: number('high'), labels, low: number('low'), max: number('max'), min: number('min'), optimum: number('optimum') },
    object: { data: text('data'), form: formOf, height: text('height'), name: text('name'), tabIndex: number('tabindex'), type: text('type'), typeMustMatch: flag('typemustmatch'), useMap: text('usemap'), width: text('width') },
    ol: { reversed: flag('reversed'), start: number('start'), type: choice('type', '1', 'a', 'A', 'i', 'I') },
    optgroup: { disabled: flag('disabled'), label: text('label') },
    option: {
      defaultSelected: flag('selected'), disabled: flag('disabled'), form: formOf, index: (e) => { const list = above('select, datalist')(e); return list === undefined ? 0 : place(e, list.options()); },
      label: (e) => e.getAttribute('label') ?? e.textContent(), selected: flag('selected'), text: content, value: optionValue,
    },
    output: { defaultValue: content, form: formOf, htmlFor: text('for'), labels, name: text('name'), type: fixed('output'), value: content },
    param: { name: text('name'), value: text('value') },
    pre: { name: text('name'), value: text('value') },
    progress: { labels, max: (e) => { const most = number('max', 1)(e); return most > 0 ? most : 1; }, position, value: (e) => Math.max(0, position(e)) },
    script: { async: flag('async'), charset: text('charset'), crossOrigin: text('crossorigin'), defer: flag('defer'), noModule: flag('nomodule'), src: text('src'), text: content, type: text('type') },
    select: {
      autofocus: flag('autofocus'), disabled: flag('disabled'), form: formOf, labels, length: (e) => options(e).length, multiple: flag('multiple'), name: text('name'), options,
      required: flag('required'), selectedIndex: (e) => options(e).findIndex((one) => one.selected()), selectedOptions: selected, size: (e) => e.hasAttribute('multiple') ? 4 : 1,
      tabIndex: number('tabindex'), type: (e) => e.hasAttribute('multiple') ? 'select-multiple' : 'select', value: (e) => selected(e)[0]?.value() ?? '',
    },
    source: { keySystem: text('keysystem'), media: text('media'), sizes: text('sizes'), src: text('src'), srcset: text('srcset'), type: text('type') },
    style: { media: text('media'), type: filled('type', 'text/css') },
    table: {
      ...rows, caption: (e) => e.querySelector('caption'), sortable: flag('sortable'), tBodies: all('tbody'), tFoot: (e) => e.querySelector('tfoot'), tHead: (e) => e.querySelector('thead'),
    },
    textarea: {
      accessKey: text('accesskey'), autocapitalize: choice('autocapitalize', 'sentences', 'none', 'off', 'characters', 'words'), autocomplete: choice('autocomplete', 'on', 'off'),
      cols: number('cols'), defaultValue: text('value'), form: formOf, labels, length: (e) => (e.getAttribute('value') ?? '').length, maxLength: number('maxlength'),
      placeholder: text('placeholder'), readOnly: flag('readonly'), required: flag('required'), rows: number('rows'), tabIndex: number('tabindex'),
      type: fixed('textarea'), value: text('value'), wrap: choice('wrap', 'soft', 'hard', 'off'),
    },
    th: { ...cell, abbr: text('abbr'), scope: choice('scope', '', 'row', 'col', 'colgroup', 'rowgroup'), sorted: flag('sorted') },
    time: { datetime: text('datetime') },
    title: { text: content },
    tr: {
      cells: (e) => e.selection().children('td,th').get(), rowIndex: (e) => { const whole = above('table')(e); return whole === undefined ? -1 : place(e, whole.rows()); },
      sectionRowIndex: (e) => e.selection().prevAll('tr').size(),
    },
    track: { default: flag('default'), kind: choice('kind', 'subtitle', 'captions', 'descriptions', 'chapters', 'metadata'), label: text('label'), src: text('src'), srclang: text('srclang') },
    ul: { type: text('type') },
  };
  const kinds = new Map();
  for (const tag in table) {
    const kind = class extends Element {};
    for (const name in table[tag]) {
      const read = table[tag][name];
      Object.defineProperty(kind.prototype, name, { value() { return read(this); }, writable: true, configurable: true });
    }
    kinds.set(tag, kind);
  }
  return kinds;
})
