// args: --local-ips 127.0.0.2
// Requests come from an address of one's own.
import http from 'k6/http';
export default function () { console.log(http.get(`${__ENV.BASE}/ip`).json('origin')); }
