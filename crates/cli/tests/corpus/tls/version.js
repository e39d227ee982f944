// args: --insecure-skip-tls-verify
// Which versions are spoken.
import http from 'k6/http';
export const options = { tlsVersion: 'tls1.2' };
export default function () { console.log(http.get(`${__ENV.HTTPS}/get`).tls_version, http.TLS_1_2); }
