// exit: 108
import exec from 'k6/execution';
exec.test.abort();
export default function () { console.log('never'); }
