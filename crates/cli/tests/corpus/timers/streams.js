// k6/experimental/streams.
import { ReadableStream } from 'k6/experimental/streams';
export default async function () {
  const stream = new ReadableStream({
    start(controller) {
      for (const part of ['a', 'b', 'c']) controller.enqueue(part);
      controller.close();
    },
  });
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    console.log(done, value);
    if (done) break;
  }
}
