// Unknown options are only worth a warning.
export const options = { iterations: 1, colour: 'blue' };
export default function () { console.log('ran'); }
