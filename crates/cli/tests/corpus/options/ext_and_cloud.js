// What is meant for others is left alone.
export const options = { iterations: 1, ext: { loadimpact: { projectID: 1, name: 'x' } }, cloud: { projectID: 1 } };
export default function () { console.log('ran'); }
