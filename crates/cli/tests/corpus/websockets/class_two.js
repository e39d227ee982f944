// order: any
// Two at once, in one iteration.
import { WebSocket } from 'k6/experimental/websockets';
export default function () {
  for (const name of ['one', 'two']) {
    const socket = new WebSocket(`${__ENV.WS}/ws-echo`);
    socket.onopen = () => socket.send(name);
    socket.onmessage = (event) => { console.log(event.data); socket.close(); };
  }
}
