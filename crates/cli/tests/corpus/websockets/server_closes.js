// The server says good-bye.
import ws from 'k6/ws';
export default function () {
  const r = ws.connect(`${__ENV.WS}/ws-close`, {}, (socket) => {
    socket.on('open', () => socket.send('anything'));
    socket.on('close', (code) => console.log('close', code));
    socket.on('error', (error) => console.log('error'));
  });
  console.log(r.status);
}
