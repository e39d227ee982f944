// Digest: two requests, the first one is expected to be refused.
import http from 'k6/http';
export default function () {
  const at = (who, path) => `http://${who}@${__ENV.HOST}${path}`;
  const r = http.get(at('user:pass', '/digest-auth/auth/user/pass'), { auth: 'digest' });
  console.log(r.status, r.json('authenticated'));
  console.log(http.get(at('user:wrong', '/digest-auth/auth/user/pass'), { auth: 'digest' }).status);
  console.log(http.post(at('user:pass', '/digest-auth/auth/user/pass'), 'body', { auth: 'digest' }).status);
}
