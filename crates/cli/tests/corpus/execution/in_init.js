// What is there before the run.
import exec from 'k6/execution';
const tried = [];
for (const [name, call] of Object.entries({ vu: () => exec.vu.idInTest, scenario: () => exec.scenario.name, instance: () => exec.instance.vusActive, test: () => exec.test.options })) {
  try { call(); tried.push(`${name} yes`); } catch (error) { tried.push(`${name} no`); }
}
export default function () { console.log(tried.join()); }
