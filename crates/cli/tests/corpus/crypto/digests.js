// All digests in all outputs.
import crypto from 'k6/crypto';
export default function () {
  for (const name of ['md4', 'md5', 'sha1', 'sha256', 'sha384', 'sha512', 'sha512_224', 'sha512_256', 'ripemd160']) {
    console.log(name, crypto[name]('hello', 'hex'));
  }
  for (const form of ['hex', 'base64', 'base64url', 'base64rawurl']) console.log(form, crypto.sha256('hello', form));
  const bytes = crypto.md5('hello', 'binary');
  console.log(bytes instanceof ArrayBuffer, new Uint8Array(bytes).join());
  console.log(crypto.sha1(new Uint8Array([1, 2, 3]).buffer, 'hex'), crypto.sha256('', 'hex'));
}
