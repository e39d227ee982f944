// Digests.
const hex = (buffer) => Array.from(new Uint8Array(buffer)).map((byte) => byte.toString(16).padStart(2, '0')).join('');
export default async function () {
  const data = new Uint8Array([104, 101, 108, 108, 111]);
  for (const name of ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512']) console.log(name, hex(await crypto.subtle.digest(name, data)));
  console.log(hex(await crypto.subtle.digest({ name: 'sha-256' }, data.buffer)).slice(0, 8));
  try { await crypto.subtle.digest('MD5', data); console.log('taken'); } catch (error) { console.log('refused', error.name); }
}
