// Short iterations are padded.
export const options = { scenarios: { s: { executor: 'constant-vus', vus: 1, duration: '1s' } }, minIterationDuration: '400ms' };
export default function () {}
