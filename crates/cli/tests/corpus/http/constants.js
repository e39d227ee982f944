// Constants.
import http from 'k6/http';
export default function () {
  const names = Object.keys(http).filter((name) => name === name.toUpperCase()).sort();
  for (const name of names) console.log(name, http[name]);
}
