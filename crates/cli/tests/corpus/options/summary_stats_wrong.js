// exit: 255
// differs exit: wrong options have one exit code, 104
export const options = { summaryTrendStats: ['median'] };
export default function () {}
