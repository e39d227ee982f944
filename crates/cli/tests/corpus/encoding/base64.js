// Base 64 in its four forms, both ways.
import encoding from 'k6/encoding';
import { b64encode, b64decode } from 'k6/encoding';
export default function () {
  const text = 'hällo? wörld>~~ ÿ';
  for (const form of ['std', 'rawstd', 'url', 'rawurl']) {
    const packed = encoding.b64encode(text, form);
    console.log(form, packed, b64decode(packed, form, 's') === text);
  }
  console.log(b64encode('a'), b64encode(''), b64encode(new Uint8Array([255, 254, 0]).buffer));
  const bytes = b64decode('//4A');
  console.log(bytes instanceof ArrayBuffer, new Uint8Array(bytes).join());
  try { b64decode('*not base 64*'); console.log('decoded'); } catch (error) { console.log('refused'); }
}
