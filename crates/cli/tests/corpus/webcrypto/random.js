// Random values.
export default function () {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  console.log(bytes.length, new Set(bytes).size > 1, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()));
  try { crypto.getRandomValues(new Uint8Array(65537)); console.log('taken'); } catch (error) { console.log('refused'); }
}
