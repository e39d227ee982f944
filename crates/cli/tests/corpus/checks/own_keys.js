// Only own keys are checks; they come in order of insertion, numbers first.
import { check } from 'k6';
export default function () {
  const seen = [];
  const inherited = Object.create({ inherited: () => { seen.push('inherited'); return true; } });
  for (const key of ['z', '2', 'a', '1']) inherited[key] = () => { seen.push(key); return true; };
  check(1, inherited);
  console.log(seen.join());
}
