// The WebSocket class.
import { WebSocket } from 'k6/experimental/websockets';
export default function () {
  const socket = new WebSocket(`${__ENV.WS}/ws-echo`);
  socket.binaryType = 'arraybuffer';
  console.log(socket.readyState, socket.url);
  socket.onopen = () => { console.log('open', socket.readyState); socket.send('hello'); };
  socket.addEventListener('message', (event) => {
    console.log('message', typeof event.data === 'string' ? event.data : new Uint8Array(event.data).join());
    if (event.data === 'hello') socket.send(new Uint8Array([3, 4]));
    else socket.close();
  });
  socket.onclose = (event) => console.log('close', event.code, socket.readyState);
  socket.onerror = (event) => console.log('error', event.error);
}
