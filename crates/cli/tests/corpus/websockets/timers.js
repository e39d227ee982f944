// Timers and pings of a socket.
import ws from 'k6/ws';
export default function () {
  ws.connect(`${__ENV.WS}/ws-echo`, null, (socket) => {
    let count = 0;
    socket.on('open', () => socket.ping());
    socket.on('pong', () => console.log('pong'));
    socket.setInterval(() => { count += 1; if (count <= 3) socket.send(`tick ${count}`); }, 40);
    socket.setTimeout(() => { console.log('enough', count >= 3); socket.close(1001); }, 400);
    socket.on('message', (text) => console.log(text));
    socket.on('close', (code) => console.log('close', code));
  });
}
