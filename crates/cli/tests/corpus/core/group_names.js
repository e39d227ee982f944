// Names with :: are refused; empty names are not.
import { group, check } from 'k6';
export default function () {
  try { group('a::b', () => {}); console.log('taken'); } catch (error) { console.log('refused'); }
  try { check(1, { 'c::d': () => true }); console.log('taken too'); } catch (error) { console.log('refused too'); }
  group('with spaces and ünïcode', () => check(1, { 'fine – ✓': () => true }));
}
