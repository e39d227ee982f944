// Errors are events.
import { WebSocket } from 'k6/experimental/websockets';
export default function () {
  const socket = new WebSocket('ws://127.0.0.1:1/');
  socket.onopen = () => console.log('never');
  socket.onerror = () => console.log('error', socket.readyState);
  socket.onclose = () => console.log('close', socket.readyState);
}
