// args: --secret-source=file=$DIR/with/secrets.txt
import secrets from 'k6/secrets';
export default async function () {
  console.log((await secrets.get('token')).length, await secrets.get('token'));
}
