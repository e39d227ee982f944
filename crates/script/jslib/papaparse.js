// CSV read and written, by what papaparse's documentation says. Files and downloads are for open() and http.

const BAD_DELIMITERS = ['\r', '\n', '"', '\ufeff'];
const RECORD_SEP = String.fromCharCode(30), UNIT_SEP = String.fromCharCode(31);

function refuse(config) {
  for (const key of ['download', 'worker', 'beforeFirstChunk', 'chunkSize', 'withCredentials']) {
    if (config[key]) throw new Error(`papaparse: the setting '${key}' is not supported here: read the text with open() or http.get() first`);
  }
}

function lineBreak(text, quote) {
  const bare = text.slice(0, 1048576).replace(new RegExp(`${escape(quote)}[^]*?${escape(quote)}`, 'g'), '');
  const parts = bare.split('\r');
  if (parts.length === 1) return '\n';
  const lines = parts.slice(1).filter((part) => part[0] === '\n').length;
  return lines >= (parts.length - 1) / 2 ? '\r\n' : '\r';
}

const escape = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

// Rows of texts, and what is wrong with them.
function rowsOf(text, { delimiter, newline, quote, escapeChar, comments, limit }) {
  const rows = [], errors = [];
  let row = [], at = 0, isCut = false;
  const fail = (code, message) => errors.push({ type: 'Quotes', code, message, row: rows.length, index: at });
  const endRow = () => { rows.push(row); row = []; };
  for (;;) {
    if (limit && rows.length >= limit) { isCut = at < text.length; break; }
    if (row.length === 0 && comments && text.startsWith(comments, at)) {
      const end = text.indexOf(newline, at);
      if (end < 0) break;
      at = end + newline.length;
      continue;
    }
    if (text[at] === quote) {
      let value = '', from = at + 1, found;
      for (;;) {
        found = text.indexOf(quote, from);
        if (escapeChar !== quote && found > 0 && text[found - 1] === escapeChar) { value += text.slice(from, found - 1) + quote; from = found + 1; continue; }
        if (found < 0) { fail('MissingQuotes', 'Quoted field unterminated'); row.push(value + text.slice(from)); endRow(); return { rows, errors, isCut, at: text.length }; }
        if (escapeChar === quote && text[found + 1] === quote) { value += text.slice(from, found + 1); from = found + 2; continue; }
        const behind = text.slice(found + 1).match(/^ */)[0].length + found + 1;
        if (behind >= text.length) { row.push(value + text.slice(from, found)); endRow(); return { rows, errors, isCut, at: text.length }; }
        if (text.startsWith(delimiter, behind)) { row.push(value + text.slice(from, found)); at = behind + delimiter.length; break; }
        if (text.startsWith(newline, behind)) { row.push(value + text.slice(from, found)); at = behind + newline.length; endRow(); break; }
        fail('InvalidQuotes', 'Trailing quote on quoted field is malformed');
        value += text.slice(from, found + 1);
        from = found + 1;
      }
      if (at >= text.length && row.length === 0) { rows.push(['']); break; }
      continue;
    }
    const comma = text.indexOf(delimiter, at), end = text.indexOf(newline, at);
    if (comma >= 0 && (end < 0 || comma < end)) { row.push(text.slice(at, comma)); at = comma + delimiter.length; continue; }
    if (end < 0) { row.push(text.slice(at)); at = text.length; endRow(); break; }
    row.push(text.slice(at, end));
    at = end + newline.length;
    endRow();
  }
  return { rows, errors, isCut, at };
}

const isEmpty = (row, how) => how === 'greedy' ? row.join('').trim() === '' : row.length === 1 && row[0].length === 0;

function guess(text, settings, candidates) {
  let best, bestDelta, bestFields;
  for (const delimiter of candidates) {
    const rows = rowsOf(text, { ...settings, delimiter, limit: 10 }).rows.filter((row) => !isEmpty(row, 'greedy'));
    if (rows.length === 0) continue;
    const fields = rows.reduce((sum, row) => sum + row.length, 0) / rows.length;
    let delta = 0;
    for (let i = 1; i < rows.length; i++) delta += Math.abs(rows[i].length - rows[i - 1].length);
    if (fields > 1.99 && (bestDelta === undefined || delta < bestDelta || (delta === bestDelta && fields > bestFields))) [best, bestDelta, bestFields] = [delimiter, delta, fields];
  }
  return best;
}

function typed(value) {
  if (value === 'true' || value === 'TRUE') return true;
  if (value === 'false' || value === 'FALSE') return false;
  if (value === '') return null;
  if (/^\s*-?(\d+\.?|\.\d+|\d+\.\d+)([eE][-+]?\d+)?\s*$/.test(value) && Math.abs(parseFloat(value)) < 2 ** 53) return parseFloat(value);
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?([+-]\d\d:\d\d|Z)$/.test(value)) return new Date(value);
  return value;
}

export function parse(input, config = {}) {
  refuse(config);
  if (typeof input !== 'string') throw new TypeError('papaparse: parse() takes a text here: read files with open()');
  const text = input.charCodeAt(0) === 0xfeff ? input.slice(1) : input;
  const quote = config.quoteChar === undefined || config.quoteChar === null ? '"' : config.quoteChar;
  const newline = ['\n', '\r', '\r\n'].includes(config.newline) ? config.newline : lineBreak(text, quote);
  const comments = config.comments === true ? '#' : typeof config.comments === 'string' ? config.comments : '';
  const settings = { newline, quote, escapeChar: config.escapeChar ?? quote, comments };
  const errors = [];
  let delimiter = typeof config.delimiter === 'function' ? config.delimiter(text) : config.delimiter;
  if (!delimiter || BAD_DELIMITERS.includes(delimiter)) {
    delimiter = guess(text, settings, config.delimitersToGuess ?? [',', '\t', '|', ';', RECORD_SEP, UNIT_SEP]);
    if (!delimiter) {
      delimiter = ',';
      errors.push({ type: 'Delimiter', code: 'UndetectableDelimiter', message: "Unable to auto-detect delimiting character; defaulted to ','" });
    }
  }
  const preview = parseInt(config.preview, 10) || 0;
  const limit = preview > 0 ? preview + (config.header ? 1 : 0) : 0;
  const found = text === '' ? { rows: [], errors: [], isCut: false, at: 0 } : rowsOf(text, { ...settings, delimiter, limit });
  errors.push(...found.errors);
  let rows = config.skipEmptyLines ? found.rows.filter((row) => !isEmpty(row, config.skipEmptyLines)) : found.rows;
  const meta = { delimiter, linebreak: newline, aborted: false, truncated: found.isCut, cursor: found.at };
  if (config.header) {
    const seen = {};
    const fields = (rows.shift() ?? []).map((field, i) => {
      const name = config.transformHeader ? config.transformHeader(field, i) : field;
      const count = Object.hasOwn(seen, name) ? ++seen[name] : (seen[name] = 0);
      return count === 0 ? name : `${name}_${count}`;
    });
    meta.fields = fields;
  }
  const wants = (field) => {
    const how = config.dynamicTyping;
    return typeof how === 'function' ? how(field) : how === true || (how !== null && typeof how === 'object' && (how[field] ?? how.__all__ ?? false));
  };
  const value = (raw, field) => {
    const changed = config.transform ? config.transform(raw, field) : raw;
    return wants(field) && typeof changed === 'string' ? typed(changed) : changed;
  };
  const data = rows.map((row, number) => {
    if (!meta.fields) return row.map(value);
    const record = {};
    row.forEach((raw, i) => {
      const field = i >= meta.fields.length ? '__parsed_extra' : meta.fields[i];
      if (field === '__parsed_extra') (record[field] ??= []).push(value(raw, field)); else record[field] = value(raw, field);
    });
    if (row.length > meta.fields.length) errors.push({ type: 'FieldMismatch', code: 'TooManyFields', message: `Too many fields: expected ${meta.fields.length} fields but parsed ${row.length}`, row: number });
    if (row.length < meta.fields.length) errors.push({ type: 'FieldMismatch', code: 'TooFewFields', message: `Too few fields: expected ${meta.fields.length} fields but parsed ${row.length}`, row: number });
    return record;
  });
  const result = { data, errors, meta };
  if (config.step) {
    const parser = { abort() { meta.aborted = true; }, pause() {}, resume() {} };
    for (const row of data) {
      config.step({ data: row, errors: [], meta }, parser);
      if (meta.aborted) break;
    }
    result.data = [];
  }
  if (config.chunk) { config.chunk(result, { abort() {}, pause() {}, resume() {} }); result.data = []; }
  if (config.complete) config.complete(result, input);
  return result;
}

export function unparse(input, config = {}) {
  const delimiter = config.delimiter ?? ',', newline = config.newline ?? '\r\n', quote = config.quoteChar ?? '"';
  const escapeChar = config.escapeChar ?? quote;
  const source = typeof input === 'string' ? JSON.parse(input) : input;
  let fields, rows;
  if (Array.isArray(source)) {
    if (source.length > 0 && Array.isArray(source[0])) rows = source;
    else { fields = config.columns ?? Object.keys(source[0] ?? {}); rows = source; }
  } else {
    ({ fields } = source);
    rows = source.data ?? [];
    fields ??= Array.isArray(rows[0]) ? undefined : Object.keys(rows[0] ?? {});
  }
  const written = (value, column) => {
    if (value === undefined || value === null) return '';
    if (value instanceof Date) return JSON.stringify(value).slice(1, 25);
    let text = String(value);
    if (config.escapeFormulae && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
    const quotes = typeof config.quotes === 'function' ? config.quotes(value, column) : Array.isArray(config.quotes) ? config.quotes[column] : config.quotes;
    const needs = quotes || text.includes(quote) || text.includes(delimiter) || /[\r\n\ufeff]|^ | $/.test(text);
    return needs ? quote + text.split(quote).join(escapeChar + quote) + quote : text;
  };
  const lines = [];
  if (fields && config.header !== false) lines.push(fields.map(written).join(delimiter));
  for (const row of rows) {
    const values = Array.isArray(row) ? row : fields.map((field) => row[field]);
    const isBlank = config.skipEmptyLines === 'greedy' ? values.join('').trim() === '' : values.length === 1 && values[0] === '';
    if (config.skipEmptyLines && isBlank) continue;
    lines.push(values.map(written).join(delimiter));
  }
  return lines.join(newline);
}

export default { parse, unparse, BAD_DELIMITERS, RECORD_SEP, UNIT_SEP, BYTE_ORDER_MARK: '\ufeff', WORKERS_SUPPORTED: false, DefaultDelimiter: ',' };
