// ECDSA and ECDH.
export default async function () {
  const data = new Uint8Array([1, 2, 3]);
  const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
  const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, pair.privateKey, data);
  console.log(signature.byteLength, await crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, pair.publicKey, signature, data));
  const jwk = await crypto.subtle.exportKey('jwk', pair.publicKey);
  console.log(jwk.kty, jwk.crv, typeof jwk.x);
  const [a, b] = [await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits']), await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits'])];
  const one = new Uint8Array(await crypto.subtle.deriveBits({ name: 'ECDH', public: b.publicKey }, a.privateKey, 256));
  const two = new Uint8Array(await crypto.subtle.deriveBits({ name: 'ECDH', public: a.publicKey }, b.privateKey, 256));
  console.log(one.join() === two.join(), one.length);
}
