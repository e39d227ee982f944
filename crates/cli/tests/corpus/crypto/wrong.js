// Wrong words throw.
import crypto from 'k6/crypto';
export default function () {
  const calls = [() => crypto.sha256('a', 'octal'), () => crypto.hmac('none', 'k', 'd', 'hex'), () => crypto.randomBytes(0)];
  calls.forEach((call, i) => {
    try { call(); console.log(i, 'taken'); } catch (error) { console.log(i, 'refused'); }
  });
  console.log(crypto.randomBytes(16).byteLength, crypto.randomBytes(1) instanceof ArrayBuffer);
}
