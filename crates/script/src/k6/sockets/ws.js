// `k6/ws`: connect() returns when the socket is over.
(function (native) {
  'use strict';
  const failure = (text) => {
    const error = new Error(text);
    error.error = () => text;
    return error;
  };

  function connect(url, ...rest) {
    const setup = rest.pop();
    if (typeof setup !== 'function' || rest.length > 1) {
      throw new TypeError('ws.connect() needs a URL, maybe parameters, and a function that is given the socket');
    }
    const handlers = new Map();
    const emit = (kind, ...values) => { for (const handler of [...(handlers.get(kind) ?? [])]) handler(...values); };
    let handle, response, over = false;
    const end = (code) => {
      if (over) return;
      over = true;
      emit('close', code);
    };
    const say = (word, ...values) => {
      if (over) emit('error', failure('websocket: close sent'));
      else word(handle, ...values);
    };
    const timer = (name, callback, delay, repeats) => {
      if (typeof callback !== 'function') throw new TypeError(`${name}() of a socket needs a function to call`);
      if (!(delay > 0)) throw new TypeError(`${name}() of a socket needs a time above 0 ms, ${delay} was given`);
      if (!over) native.timer(handle, () => { if (!over) callback(); }, Number(delay), repeats);
    };
    const socket = {
      on(kind, handler) {
        if (typeof handler !== 'function') throw new TypeError(`on('${kind}') of a socket needs a function to call`);
        if (!handlers.has(kind)) handlers.set(kind, []);
        handlers.get(kind).push(handler);
      },
      send(text) { say(native.send, String(text)); },
      sendBinary(bytes) {
        if (!(bytes instanceof ArrayBuffer)) throw new TypeError('sendBinary() of a socket takes an ArrayBuffer');
        say(native.send, bytes);
      },
      ping() { say(native.ping); },
      close(code = 1001) {
        if (over) return;
        native.close(handle, code, '');
        end(code);
      },
      setTimeout(callback, delay) { timer('setTimeout', callback, delay, false); },
      setInterval(callback, delay) { timer('setInterval', callback, delay, true); },
    };
    const hear = (kind, first) => {
      if (kind === 'refused') response = first;
      else if (kind === 'closed') end(first);
      else if (over) return;
      else if (kind === 'open') { response = first; setup(socket); emit('open'); }
      else if (kind === 'text') emit('message', first);
      else if (kind === 'binary') emit('binaryMessage', first);
      else if (kind === 'failed') emit('error', failure(first));
      else emit(kind);
    };
    handle = native.block(String(url), rest[0], hear);
    try { native.wait(handle); } finally { native.drop(handle); }
    if (response.error) {
      if (native.throws()) throw new Error(response.error);
      native.warn(`WebSocket ${url} did not open: ${response.error}`);
    }
    return response;
  }
  return { connect };
})
