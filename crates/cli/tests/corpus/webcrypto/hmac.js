// HMAC: import, sign, verify, export.
const hex = (buffer) => Array.from(new Uint8Array(buffer)).map((byte) => byte.toString(16).padStart(2, '0')).join('');
export default async function () {
  const raw = new Uint8Array([1, 2, 3, 4]);
  const key = await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, true, ['sign', 'verify']);
  const data = new Uint8Array([9, 8, 7]);
  const mac = await crypto.subtle.sign('HMAC', key, data);
  console.log(hex(mac), await crypto.subtle.verify('HMAC', key, mac, data), await crypto.subtle.verify('HMAC', key, mac, raw));
  console.log(hex(await crypto.subtle.exportKey('raw', key)), key.type, key.extractable, key.usages.join(), key.algorithm.name);
  const made = await crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-512' }, true, ['sign']);
  console.log((await crypto.subtle.exportKey('raw', made)).byteLength);
}
