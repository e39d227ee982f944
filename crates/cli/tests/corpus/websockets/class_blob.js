// Blobs.
import { WebSocket, Blob } from 'k6/experimental/websockets';
export default function () {
  const socket = new WebSocket(`${__ENV.WS}/ws-echo`);
  socket.binaryType = 'blob';
  socket.onopen = () => socket.send(new Blob(['a', new Uint8Array([66]), 'c'], { type: 'text/plain' }));
  socket.onmessage = async (event) => {
    console.log(event.data.size, await event.data.text());
    socket.close();
  };
}
