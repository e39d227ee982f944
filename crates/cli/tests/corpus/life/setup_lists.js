// differs console: a list that setup gave can grow, as any list
// Lists in setup's data.
export const options = { iterations: 2 };
export function setup() { return { list: [1, 2] }; }
export default function (data) { data.list.push(3); console.log(data.list.length); }
