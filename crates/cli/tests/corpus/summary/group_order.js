// Groups and checks come in the order of their first use.
import { check, group } from 'k6';
export default function () {
  for (const name of ['z', 'a', 'm']) group(name, () => check(1, { z: () => true, a: () => true }));
  check(1, { y: () => true, b: () => true });
}
export function handleSummary(data) {
  const names = (one) => ({ name: one.name, groups: one.groups.map(names), checks: one.checks.map((check) => check.name) });
  return { 'order.json': JSON.stringify(names(data.root_group)), 'options.json': JSON.stringify(data.options) };
}
