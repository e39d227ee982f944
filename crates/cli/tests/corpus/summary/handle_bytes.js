// stdout: same
// Bytes, folders and what is no text.
export default function () {}
export function handleSummary(data) {
  return { 'bytes.bin': new Uint8Array([65, 66, 67]).buffer, stdout: JSON.stringify(Object.keys(data).sort()), stderr: '' };
}
