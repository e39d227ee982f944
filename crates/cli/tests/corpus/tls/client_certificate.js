// args: --insecure-skip-tls-verify
// A client that shows a certificate.
import http from 'k6/http';
export const options = { tlsAuth: [{ cert: __ENV.CERTIFICATE, key: __ENV.KEY }] };
export default function () { console.log(http.get(`${__ENV.MTLS}/get`).status); }
