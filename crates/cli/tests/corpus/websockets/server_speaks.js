// The server speaks first.
import ws from 'k6/ws';
export default function () {
  ws.connect(`${__ENV.WS}/ws-greet`, (socket) => {
    socket.on('open', () => console.log('open'));
    socket.on('message', (text) => console.log('text', text));
    socket.on('binaryMessage', (bytes) => console.log('binary', bytes.byteLength));
    socket.on('ping', () => { console.log('ping'); socket.close(); });
    socket.on('close', (code) => console.log('close', code));
  });
}
