// What cannot be.
import { open } from 'k6/experimental/fs';
const words = [];
for (const name of ['./with/nowhere.txt', './with']) {
  try { await open(name); words.push('opened'); } catch (error) { words.push('refused'); }
}
export default async function () {
  console.log(words.join());
  try { await open('./with/words.txt'); console.log('opened'); } catch (error) { console.log('refused'); }
}
