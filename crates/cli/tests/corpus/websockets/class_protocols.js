// Protocols, headers and tags.
import { WebSocket } from 'k6/experimental/websockets';
export const options = { thresholds: { 'ws_sessions{kind:x}': ['count==1'] } };
export default function () {
  const socket = new WebSocket(`${__ENV.WS}/ws-echo`, ['none', 'chat'], { headers: { 'X-Own': '1' }, tags: { kind: 'x' } });
  socket.onopen = () => { console.log(socket.protocol, socket.extensions, socket.bufferedAmount); socket.close(1000); };
  socket.onclose = () => console.log('closed');
}
