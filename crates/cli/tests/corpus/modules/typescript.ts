// Types are stripped.
import http from 'k6/http';
import { check } from 'k6';
import type { Options } from 'k6/options';
import { Shape, area } from './with/shapes.ts';
enum Color { Red, Green = 5, Blue }
interface User { name: string; age?: number }
export const options: Options = { iterations: 1 };
class Point { constructor(private readonly x: number, public y = 2) {} sum(): number { return this.x + this.y; } }
function identity<T>(value: T): T { return value; }
export default function (): void {
  const user: User = { name: 'ada' };
  const shape = { width: 2, height: 3 } satisfies Shape;
  console.log(user.name, Color.Red, Color.Blue, Color[5], new Point(1).sum(), identity<string>('same'), area(shape), (user as any).age ?? 'none', user!.name);
  check(http.get(`${__ENV.BASE}/get`), { fine: (r) => r.status === 200 });
}
