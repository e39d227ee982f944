// exit: 107
// What has moved says where.
import timers from 'k6/experimental/timers';
export default function () { timers.setTimeout(() => {}, 1); }
