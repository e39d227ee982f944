//! TypeScript runs as the language says, and its lines and columns stay.

use super::engine::{files, link_files, run};

/// Runs a TypeScript file beside which `types.ts` and `lib.js` lie, and compares the log.
fn check(source: &str, expected: &[&str]) {
    let all = files(&[
        ("main.ts", source),
        (
            "types.ts",
            "export interface Shape { x: number }\nexport type Id = string;\nexport const value: Id = 'v';\nexport default interface D {}",
        ),
        ("lib.js", "log('lib ran'); export const a = 1, b = 2; export default 3;"),
    ]);
    let bundle = link_files(&all, "main.ts").unwrap_or_else(|error| panic!("{error}"));
    let main = &bundle.modules[bundle.entry].source;
    assert_eq!(main.matches('\n').count(), source.matches('\n').count() + 1, "lines of {main}");
    let outcome = run(&bundle);
    assert_eq!(outcome.error, None, "{}\n{main}", outcome.stack);
    assert_eq!(outcome.log, expected, "{main}");
}

#[test]
fn annotations_vanish() {
    check(
        "let a: number = 1, b!: string; const f = (x: number, y?: string, ...z: any[]): string => `${x}${y}${z}`;\n\
         function g<T extends object, U = T>(this: void, a: T, b = 2 as number): a is T { return !!a }\n\
         async function h(): Promise<void> {} const o = { m<T>(x: T): T { return x }, get p(): number { return 4 } };\n\
         try { throw 5 } catch (e: unknown) { log(e as string) }\n\
         for (const x of [1] as const) log(x); for (let i: number = 0; i < 1; i++) log(i);\n\
         log(a, b, f(1), g<object>({}), o.m<number>(3), o.p, new Map<string, Map<string, number>>().size);\n\
         let n: { x: number } | null = { x: 7 }; log(n!.x, (<any>n).x, n satisfies object === n, (n as any)!.x);",
        &["5", "1", "0", "1 undefined 1undefined true 3 4 0", "7 7 true 7"],
    );
}

#[test]
fn lines_do_not_join() {
    check(
        "type A = { a: string }\ninterface B extends A { b(): void }\ndeclare const c: number\nlet x = log as any\n(log)('one')\n\
         let y = x as any\n[1].forEach(log)\nconst f = (a: number): {\n  b: number\n} => ({ b: a })\nlog(f(2).b)\n\
         class C { a: number\n['b'] = 3\npublic c = 4\nprivate *d(): any { yield 5 }\ndeclare e: string\nf }\nconst i = new C();\n\
         log(Object.keys(i))\nconst g = () => <any>{ z: 1 }\nlog(g().z)",
        &["one", "1 0 1", "2", "a,b,c,f", "1"],
    );
}

#[test]
fn enums() {
    check(
        "enum Color { Red, Green = 5, Blue, 'dash-ed' = Blue << 1, Text = 'text', }\nconst enum K { A = 1, B = A + Color.Green }\n\
         enum Color { More = 20 }\ndeclare enum Gone { X }\nexport enum Level {\n  Low = 1, // low\n  High = 'a,b'.length,\n}\n\
         log(Color.Red, Color.Green, Color.Blue, Color['dash-ed'], Color.Text, Color[5], Color.More, K.B, Level[3]);",
        &["0 5 6 12 text Green 20 6 High", "Level = keys 1,3,Low,High"],
    );
}

#[test]
fn namespaces() {
    check(
        "namespace N { export const a = 1; const b = 2; export function f() { return a + b } export interface T {}\n\
         export namespace M { export let c = 3 } export enum E { X = 9 } export class K {} }\nnamespace N { export const d = 4 }\n\
         namespace Only { export type T = string }\nnamespace P.Q { export const deep = 5 }\nfunction F() { return 6 } namespace F { export const x = 7 }\n\
         N.M.c = 8; log(N.a, N.f(), N.M.c, N.E.X, N.d, typeof N.K, typeof Only, P.Q.deep, F(), F.x);\nexport namespace Out { export const v = 1 }",
        &["1 3 8 9 4 function undefined 5 6 7", "Out = keys v"],
    );
}

#[test]
fn classes() {
    check(
        "abstract class Base<T> { protected abstract m(): void; static readonly s: number = 1; [key: string]: any;\n\
         constructor(protected readonly base: T, plain?: number) { log('base') } n?(): void }\ninterface I {} interface J<T> {}\n\
         class Child extends Base<string> implements I, J<string> { #p?: number; override m() { return this.base + this.own }\n\
         over(a: string): void; over(a: number): void; over(a: any) { return a }\n\
         constructor(private own: number = 2) { super('b'); log(this.own) } static async readonly() { return 1 } private declare = 3; }\n\
         log(new Child().m(), Child.s, new Child(5).over(4), Object.keys(new Child()));\n\
         const X = class<T> { constructor(public readonly x: T) { 'use strict'; log(this.x) } }; new X<number>(1);",
        &["base", "2", "base", "5", "base", "2", "b2 1 4 base,declare,own", "1"],
    );
}

#[test]
fn imports_of_types_are_dropped() {
    check(
        "import type { Options } from 'k6/options'; import { type Shape, value, Id } from './types.ts'; import D from './types.ts';\n\
         import http, { type Response } from 'k6/http'; import type * as all from './nowhere.ts'; import unused from './missing.js';\n\
         export type { Shape } from './types.ts'; export { type Id } from './types.ts'; export type * from './nowhere.ts';\n\
         const o: Options = {}; const r: Response<D> | Shape | null = null; log(value, typeof http.get, typeof http); type Local = 1; export { Local, o };\n\
         import { Shape as Again } from './types'; export { Again };",
        &["v function object", "o = keys "],
    );
    check(
        "import x, * as lib from './lib.js'; import { a, b } from './lib.js'; log(b); let y: typeof x;",
        &["lib ran", "2"],
    );
}

#[test]
fn mistakes_and_stacks_have_the_places_of_the_source() {
    let shown = |name: &str, source: &str| link_files(&files(&[(name, source)]), name).unwrap_err().to_string();
    insta::assert_snapshot!(shown("main.ts", "enum E { A }\nlet x: number = = 1;"), @r"
    main.ts:2:17: syntax error: Unexpected token
    let x: number = = 1;
                    ^
    ");
    insta::assert_snapshot!(shown("main.ts", "let é: Ünion<'ö'> = 1; import { f } from './nowhere.ts'; f();"), @r"
    cannot read nowhere.ts: entity not found, imported at main.ts:1:42
    let é: Ünion<'ö'> = 1; import { f } from './nowhere.ts'; f();
                                             ^
    ");
    insta::assert_snapshot!(shown("main.ts", "@sealed class A {}"), @r"
    main.ts:1:1: decorators are not supported: JavaScript does not have them yet; call the function instead
    @sealed class A {}
    ^
    ");
    insta::assert_snapshot!(shown("main.tsx", "<a/>"), @"main.tsx:1:1: JSX is not supported: scripts have no pages to draw");
    let source = "interface A {\n  x: number;\n}\nfunction f(a: A): never { throw new Error('no' as string) }\nf({ x: 1 } as A);";
    let outcome = run(&link_files(&files(&[("main.js", source)]), "main.js").unwrap());
    assert!(outcome.stack.contains("f (main.js:4:37)"), "{}", outcome.stack);
    assert!(outcome.stack.contains("(main.js:5:1)"), "{}", outcome.stack);
}
