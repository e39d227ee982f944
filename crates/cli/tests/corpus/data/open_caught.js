// A missing file can be caught.
let text = 'default';
try { text = open('./with/nowhere.json'); } catch (error) { text = 'caught'; }
export default function () { console.log(text); }
