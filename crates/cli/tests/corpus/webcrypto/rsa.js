// RSA: signatures and encryption.
export default async function () {
  const base = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' };
  const data = new Uint8Array([1, 2, 3]);
  const signer = await crypto.subtle.generateKey({ name: 'RSASSA-PKCS1-v1_5', ...base }, true, ['sign', 'verify']);
  const signature = await crypto.subtle.sign('RSASSA-PKCS1-v1_5', signer.privateKey, data);
  console.log(signature.byteLength, await crypto.subtle.verify('RSASSA-PKCS1-v1_5', signer.publicKey, signature, data));
  const box = await crypto.subtle.generateKey({ name: 'RSA-OAEP', ...base }, true, ['encrypt', 'decrypt']);
  const sealed = await crypto.subtle.encrypt({ name: 'RSA-OAEP' }, box.publicKey, data);
  console.log(sealed.byteLength, new Uint8Array(await crypto.subtle.decrypt({ name: 'RSA-OAEP' }, box.privateKey, sealed)).join());
}
