// Nobody listens; no WebSocket; a wrong address.
import ws from 'k6/ws';
export const options = { iterations: 3 };
export default function () {
  const url = ['ws://127.0.0.1:1/', `${__ENV.WS}/get`, `${__ENV.WS}/nowhere`][__ITER];
  const r = ws.connect(url, (socket) => socket.on('open', () => console.log('never')));
  console.log(r.status, r.error !== '');
}
