// k6/experimental/fs.
import { open, SeekMode } from 'k6/experimental/fs';
const file = await open('./with/words.txt');
export default async function () {
  const info = await file.stat();
  console.log(info.name, info.size);
  const buffer = new Uint8Array(4);
  console.log(await file.read(buffer), String.fromCharCode(...buffer));
  console.log(await file.seek(1, SeekMode.Current), await file.read(buffer), String.fromCharCode(...buffer));
  await file.seek(-2, SeekMode.End);
  console.log(await file.read(buffer), await file.read(buffer));
  console.log(await file.seek(0, SeekMode.Start));
}
