// exit: 104
export const options = { dns: { select: 'best' } };
export default function () {}
