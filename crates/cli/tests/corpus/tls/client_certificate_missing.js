// args: --insecure-skip-tls-verify
// And one that does not.
import http from 'k6/http';
export default function () { const r = http.get(`${__ENV.MTLS}/get`); console.log(r.status, r.error_code > 0); }
