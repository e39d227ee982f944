// The same seed gives the same numbers, another one others.
import { randomSeed } from 'k6';
export default function () {
  randomSeed(7);
  const first = [Math.random(), Math.random()];
  randomSeed(7);
  const again = [Math.random(), Math.random()];
  randomSeed(8);
  console.log(first[0] === again[0], first[1] === again[1], first[0] === Math.random());
}
