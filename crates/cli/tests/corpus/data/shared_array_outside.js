// In an iteration it is too late.
import { SharedArray } from 'k6/data';
export default function () {
  try { new SharedArray('late', () => []); console.log('made'); } catch (error) { console.log('refused'); }
}
