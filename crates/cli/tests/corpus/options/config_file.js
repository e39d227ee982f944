// args: --config $DIR/with/config.json
// A configuration file is weaker than the script.
import http from 'k6/http';
export const options = { tags: { from: 'script' } };
export default function () { http.get(`${__ENV.BASE}/headers`); }
