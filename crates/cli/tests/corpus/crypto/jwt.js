// A token as many scripts make one.
import crypto from 'k6/crypto';
import encoding from 'k6/encoding';
export default function () {
  const part = (value) => encoding.b64encode(JSON.stringify(value), 'rawurl');
  const head = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ sub: '17', admin: true })}`;
  const token = `${head}.${crypto.hmac('sha256', 'secret', head, 'base64rawurl')}`;
  console.log(token);
  console.log(encoding.b64decode(token.split('.')[1], 'rawurl', 's'));
}
