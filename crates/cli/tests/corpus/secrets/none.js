// Without a source.
import secrets from 'k6/secrets';
export default async function () {
  try { await secrets.get('key'); console.log('found'); } catch (error) { console.log('refused'); }
}
