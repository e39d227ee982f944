// Bytes come as a Blob unless the script wants an ArrayBuffer.
import { WebSocket } from 'k6/experimental/websockets';
export default function () {
  const socket = new WebSocket(`${__ENV.WS}/ws-echo`);
  socket.binaryType = 'blob';
  socket.onopen = () => socket.send(new Uint8Array([97, 66, 99]));
  socket.onmessage = async (event) => {
    console.log(event.data.size, await event.data.text());
    socket.close();
  };
}
