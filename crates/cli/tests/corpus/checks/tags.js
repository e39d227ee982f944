// Tags of a check go with its sample.
import { check, group } from 'k6';
export const options = { thresholds: { 'checks{kind:good}': ['rate==1'], 'checks{kind:bad}': ['rate==0'], 'checks{kind:none}': [] } };
export default function () {
  check(1, { a: () => true, b: () => true }, { kind: 'good', number: 5, flag: true });
  group('g', () => check(1, { c: () => false }, { kind: 'bad' }));
}
