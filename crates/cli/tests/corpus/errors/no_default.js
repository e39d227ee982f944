// exit: 255
// Nothing to run.
export const options = { vus: 1 };
