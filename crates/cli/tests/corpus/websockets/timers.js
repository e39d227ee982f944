// differs requests: how many ticks fit hangs on the clock
// differs metrics: the same
// Timers and pings of a socket.
import ws from 'k6/ws';
export default function () {
  ws.connect(`${__ENV.WS}/ws-echo`, null, (socket) => {
    let count = 0;
    socket.on('open', () => socket.ping());
    socket.on('pong', () => console.log('pong'));
    socket.setInterval(() => { count += 1; socket.send(`tick ${count}`); }, 30);
    socket.setTimeout(() => { console.log('enough', count >= 2); socket.close(1001); }, 150);
    socket.on('close', (code) => console.log('close', code));
  });
}
