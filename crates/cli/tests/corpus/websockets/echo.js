// k6/ws: an echo, and what is counted.
import ws from 'k6/ws';
import { check } from 'k6';
export const options = { iterations: 2 };
export default function () {
  const answer = ws.connect(`${__ENV.WS}/ws-echo`, { headers: { 'X-Own': 'yes' }, tags: { kind: 'echo' } }, (socket) => {
    socket.on('open', () => { console.log('open'); socket.send('hello'); });
    socket.on('message', (text) => { console.log('message', text); if (text === 'hello') socket.sendBinary(new Uint8Array([1, 2]).buffer); });
    socket.on('binaryMessage', (bytes) => { console.log('binary', new Uint8Array(bytes).join()); socket.close(); });
    socket.on('close', (code) => console.log('close', code));
    socket.on('error', (error) => console.log('error', error.error()));
  });
  check(answer, { 'is 101': (r) => r.status === 101 });
  console.log(answer.status, answer.url, answer.body, JSON.stringify(answer.error), answer.headers.Upgrade);
}
