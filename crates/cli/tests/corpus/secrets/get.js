// args: --secret-source=mock=key=hidden-value,other=two
// Secrets are read and never shown.
import secrets from 'k6/secrets';
export default async function () {
  const value = await secrets.get('key');
  console.log(value.length, `it is ${value}!`);
  console.log((await secrets.get('other')).length);
  try { await secrets.get('missing'); console.log('found'); } catch (error) { console.log('missing'); }
}
