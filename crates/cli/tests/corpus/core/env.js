// env: COLOR=blue EMPTY= WITH=a=b
// environment: FROM_SYSTEM=yes COLOR=red
// Variables come from the system and from -e, which wins; the object can be written.
export default function () {
  console.log(__ENV.COLOR, JSON.stringify(__ENV.EMPTY), __ENV.WITH, __ENV.FROM_SYSTEM, __ENV.NOT_THERE, 'COLOR' in __ENV);
  __ENV.NEW = 'written';
  console.log(__ENV.NEW, delete __ENV.NEW, __ENV.NEW);
}
