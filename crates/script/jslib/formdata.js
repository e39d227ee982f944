// FormData: the body of a multipart/form-data request.

function utf8(text) {
  const bytes = [];
  for (const char of String(text)) {
    const code = char.codePointAt(0);
    if (code < 0x80) bytes.push(code);
    else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
    else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    else bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
  }
  return Uint8Array.from(bytes);
}

const quoted = (text) => String(text).replace(/\r\n|\r|\n/g, '%0D%0A').replace(/"/g, '%22');
const bytesOf = (data) => data instanceof ArrayBuffer ? new Uint8Array(data)
  : ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : Array.isArray(data) ? Uint8Array.from(data) : utf8(data);

export class FormData {
  constructor() {
    this.parts = [];
    this.boundary = '------RWWorkerFormDataBoundary' + Math.random().toString(36).slice(2);
  }

  // A text, bytes, or what http.file() gives; with a file name it is a file.
  append(name, value, filename) {
    if (arguments.length < 2) throw new TypeError('FormData: append() needs a name and a value');
    if (value !== null && typeof value === 'object' && 'data' in value && ('filename' in value || 'content_type' in value)) {
      this.parts.push({ name, data: value.data, filename: filename ?? value.filename ?? 'blob', type: value.content_type || 'application/octet-stream' });
    } else if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) {
      this.parts.push({ name, data: value, filename: filename ?? 'blob', type: 'application/octet-stream' });
    } else this.parts.push({ name, data: String(value), filename, type: filename === undefined ? undefined : 'application/octet-stream' });
  }

  // The body, to be sent with the type `multipart/form-data; boundary=` and the boundary.
  body() {
    const pieces = [];
    for (const { name, data, filename, type } of this.parts) {
      const file = filename === undefined ? '' : `; filename="${quoted(filename)}"`;
      const line = type === undefined ? '' : `\r\nContent-Type: ${type}`;
      pieces.push(utf8(`--${this.boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"${file}${line}\r\n\r\n`), bytesOf(data), utf8('\r\n'));
    }
    pieces.push(utf8(`--${this.boundary}--\r\n`));
    const all = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
    let at = 0;
    for (const piece of pieces) { all.set(piece, at); at += piece.length; }
    return all.buffer;
  }
}

export default FormData;
