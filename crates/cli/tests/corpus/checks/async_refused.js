// A check cannot wait for a promise.
import { check } from 'k6';
export default async function () {
  try {
    check(1, { later: async () => true });
    console.log('taken');
  } catch (error) {
    console.log('refused');
  }
}
