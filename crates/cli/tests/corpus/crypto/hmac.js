// HMAC, at once and in pieces.
import crypto, { hmac, createHMAC, createHash } from 'k6/crypto';
export default function () {
  console.log(hmac('sha256', 'key', 'data', 'hex'));
  console.log(hmac('sha512', 'key', 'data', 'base64'));
  console.log(hmac('md5', 'key', new Uint8Array([1, 2]).buffer, 'hex'));
  const mac = createHMAC('sha256', 'key');
  mac.update('da');
  mac.update('ta');
  console.log(mac.digest('hex'), mac.digest('base64rawurl'));
  const hash = createHash('sha1');
  hash.update('hello ');
  hash.update('world');
  console.log(hash.digest('hex'), hash.digest('hex'));
  console.log(crypto.hexEncode(new Uint8Array([0, 15, 255]).buffer));
}
