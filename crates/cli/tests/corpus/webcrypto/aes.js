// AES in its three modes.
const hex = (buffer) => Array.from(new Uint8Array(buffer)).map((byte) => byte.toString(16).padStart(2, '0')).join('');
export default async function () {
  const raw = new Uint8Array(16).map((_, i) => i);
  const data = new Uint8Array([1, 2, 3, 4, 5]);
  const ways = { 'AES-CBC': { iv: new Uint8Array(16) }, 'AES-CTR': { counter: new Uint8Array(16), length: 64 }, 'AES-GCM': { iv: new Uint8Array(12) } };
  for (const [name, more] of Object.entries(ways)) {
    const key = await crypto.subtle.importKey('raw', raw, name, false, ['encrypt', 'decrypt']);
    const sealed = await crypto.subtle.encrypt({ name, ...more }, key, data);
    const opened = await crypto.subtle.decrypt({ name, ...more }, key, sealed);
    console.log(name, hex(sealed), hex(opened));
    try { await crypto.subtle.exportKey('raw', key); console.log('exported'); } catch (error) { console.log('refused', error.name); }
  }
}
