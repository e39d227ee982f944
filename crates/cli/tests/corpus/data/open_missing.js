// exit: 107
// A file that is not there.
const text = open('./with/nowhere.json');
export default function () { console.log(text); }
