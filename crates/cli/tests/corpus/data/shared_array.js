// order: any
// SharedArray: made once, read by all, never written.
import { SharedArray } from 'k6/data';
const users = new SharedArray('users', () => [{ name: 'ada', tags: ['x'] }, { name: 'bob' }, { name: 'cyd' }]);
export const options = { vus: 2, iterations: 2 };
export default function () {
  console.log(users.length, users[0].name, users[users.length - 1].name, users[7], typeof users, Array.isArray(users));
  console.log(users.map((user) => user.name).join(), users.filter((user) => user.name > 'b').length);
  let names = '';
  for (const user of users) names += user.name;
  console.log(names, JSON.stringify(users[0]), users.at ? 'at' : 'no at');
  const refused = [() => { users[0] = 1; }, () => { users[0].name = 'x'; }, () => users.push(1)].map((write) => {
    try { write(); return 'written'; } catch (error) { return error instanceof TypeError; }
  });
  console.log(refused.join());
}
