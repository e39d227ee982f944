// exit: 107
// Only the users' init code throws.
if (__VU > 0) throw new Error('in a user');
export default function () {}
