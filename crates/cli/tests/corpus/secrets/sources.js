// args: --secret-source=mock=default,name=one,key=from-one --secret-source=mock=name=two,key=from-the-second
// Several sources by name.
import secrets from 'k6/secrets';
export default async function () {
  console.log((await secrets.get('key')).length, (await (await secrets.source('two')).get('key')).length);
}
