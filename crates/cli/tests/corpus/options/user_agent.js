// args: --user-agent me/1.0
import http from 'k6/http';
export default function () { console.log(http.get(`${__ENV.BASE}/user-agent`).json('user-agent')); }
