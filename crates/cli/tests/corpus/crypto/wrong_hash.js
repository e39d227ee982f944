// exit: 2
// differs exit: k6 falls over (a Go panic); we throw an exception that the script can catch
// A hash that nobody knows.
import crypto from 'k6/crypto';
export default function () {
  try { crypto.createHash('sha3'); console.log('taken'); } catch (error) { console.log('refused'); }
}
