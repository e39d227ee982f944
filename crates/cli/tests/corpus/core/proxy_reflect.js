// Proxies, getters and symbols.
export default function () {
  const seen = [];
  const proxy = new Proxy({ a: 1 }, { get: (target, key) => { seen.push(String(key)); return Reflect.get(target, key); } });
  console.log(proxy.a + 1, seen.join());
  const object = { get answer() { return 42; }, [Symbol.toPrimitive]: () => 'primitive' };
  console.log(object.answer, `${object}`);
  console.log(Object.getOwnPropertyNames(class { static s() {} m() {} }.prototype).join());
  console.log(new WeakMap([[object, 1]]).has(object), Array.from({ length: 3 }, (_, i) => i * i).join());
  console.log([..."ab"].map((c) => c.codePointAt(0)).join(), String.fromCodePoint(128512));
}
