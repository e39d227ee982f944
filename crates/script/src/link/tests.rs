//! Linked modules run in the engine and must do what the engine's own modules do.

mod engine;
mod generated;
mod refused;
mod typescript;

use engine::{files, link_files, run, run_native};

/// Links and runs the files, of which the first is the script, and compares the log; then asks the oracle.
fn check(list: &[(&str, &str)], expected: &[&str]) {
    let all = files(list);
    let bundle = link_files(&all, list[0].0).unwrap_or_else(|error| panic!("{error}"));
    for (module, source) in bundle.modules.iter().map(|module| (module, &all[&module.path])) {
        assert_eq!(module.source.matches('\n').count(), source.matches('\n').count() + 1, "lines of {}", module.source);
    }
    let outcome = run(&bundle);
    assert_eq!(outcome.error, None, "{}", outcome.stack);
    assert_eq!(outcome.log, expected, "{:#?}", bundle.modules);
    assert_eq!(run_native(&all, list[0].0).log, expected, "the engine's own modules");
}

/// One file that imports `f`, `value` and `Thing` from a second one.
fn check_uses(script: &str, expected: &[&str]) {
    let library = "export function f(...all) { return [typeof this, ...all].join() }\n\
        export let value = 1; export const bump = () => { value++ };\n\
        export class Thing { static make() { return new this() } m() { return 'm' } }\n\
        export const o = { g() { return this === o }, f };\n";
    let script = format!("import {{ f, value, bump, Thing, o }} from './library.js';\n{script}");
    check(&[("main.js", &script), ("library.js", library)], expected);
}

#[test]
fn every_form_of_import() {
    check(
        &[
            (
                "main.js",
                "import one from './a.js'; import two, { x } from './a.js'; import { x as y, default as three } from './a.js';\n\
                 import * as a from './a.js';\nimport four, * as again from './a.js'; import './side.js';\n\
                 import { 'any text' as text } from './a.js'; import {} from './a.js';\n\
                 log(one, two, three, four, x, y, a.x, a === again, text, show(a));",
            ),
            ("a.js", "export default 7; export const x = 8; const t = 9; export { t as 'any text' };"),
            ("side.js", "log('side');"),
        ],
        &["side", "7 7 7 7 8 8 8 true 9 keys any text,default,x"],
    );
}

#[test]
fn every_form_of_export() {
    check(
        &[
            (
                "main.js",
                "export const a = 1, b = 2; export let { c, d: [e, ...f], ...g } = { c: 3, d: [4, 5], h: 6 };\n\
                 export var i = 7; export function j() {} export async function k() {} export function* l() {}\n\
                 export class M {} const n = 8; export { n as o, n as default, p }; function p() {}\n\
                 export { q as r, default as s } from './other.js'; export * as t from './other.js'; export * from './other.js';",
            ),
            ("other.js", "export const q = 9; export default class {}"),
        ],
        &[
            "M = function M",
            "a = 1",
            "b = 2",
            "c = 3",
            "default = 8",
            "e = 4",
            "f = keys 0,length",
            "g = keys h",
            "i = 7",
            "j = function j",
            "k = function k",
            "l = function l",
            "o = 8",
            "p = function p",
            "q = 9",
            "r = 9",
            "s = function default",
            "t = keys default,q",
        ],
    );
}

#[test]
fn every_form_of_default() {
    let named = |source: &str, name: &str| {
        let import = "import it from './it.js'; log(show(it));";
        check(&[("main.js", import), ("it.js", source), ("x.js", "export const x = 5;")], &[name]);
    };
    named("export default function () {}\n(1)", "function default");
    named("export default async function () {}", "function default");
    named("export default function * () {}", "function default");
    named("export default function named() {}", "function named");
    named("export default class {}\n(1)", "function default");
    check(
        &[("main.js", "export default class { static x = log(this.name) }")],
        &["default", "default = function default"],
    );
    named("export default class Named {}", "function Named");
    named("export default () => {}\n(1)", "function default");
    named("export default async a => a", "function default");
    named("export default (function () {})", "function default");
    named("export\n  default\n  1 + 1\n;[2]", "2");
    named("export default [1, 2].length", "2");
    named("import { x } from './x.js'; export default x", "5");
    named("const Object = 0; export default function () { return Object }", "function default");
}

#[test]
fn builtins() {
    check(
        &[
            (
                "main.js",
                "import http, { get } from 'k6/http'; import * as k6 from 'k6'; import { check as is } from './barrel.js';\n\
            log(http.name, http.get(1), get(2), show(k6), is()); { const get = 3; log(get) }\n\
            http.get = () => 'patched'; import again from 'k6/http'; log(again.get());",
            ),
            ("barrel.js", "export * from 'k6'; export { default } from 'k6';"),
        ],
        &["http GET 1 GET 2 keys check,default,sleep check", "3", "patched"],
    );
}

#[test]
fn calls_have_no_this() {
    check_uses(
        "log(f(1), (f)(2), ((f))(3), f?.(4), f`x`, (f)`y`);",
        &["undefined,1 undefined,2 undefined,3 undefined,4 undefined,x undefined,y"],
    );
    check_uses(
        "log(o.g(), o?.g(), new Thing().m(), Thing.make().m(), new Thing.prototype.constructor().m());",
        &["true true m m m"],
    );
    check_uses("log([1, 2].map(f)[1]); const { f: own } = { f }; log(own(3));", &["undefined,2,1,1,2", "undefined,3"]);
}

#[test]
fn statements_without_semicolons() {
    check_uses("const a = log\nf(1)\nlog(typeof a)", &["function"]);
    check_uses("let g = () => 1\nf`x`\nif (g)\nf(1)\nelse f(2)\nlog(g())", &["1"]);
    check_uses(
        "const g = () => f(1)\nlog(g())\nlabel: f(2)\nfor (const x of [1]) f(x)\ndo f(3); while (0)",
        &["undefined,1"],
    );
    check_uses("switch (1) { case 1: log(0)\nf(1) }\nclass A { static { let x = log\nf(1) } }", &["0"]);
    check_uses("let a = 1\nimport 'k6'\n(f)(2)\nlog(a)\nexport { a }\n[f]\nlog('end')", &["1", "end", "a = 1"]);
    check_uses("const h = async () => f(1)\nh().x\nf(2), log(3)", &["3"]);
}

#[test]
fn every_place_of_a_use() {
    check_uses("log({ f }.f(1), { value }.value, { ['k' + value]: value }.k1);", &["object,1 1 1"]);
    check_uses(
        "log(typeof f, typeof value, `${value}${`${f(2)}`}`, -value, !value, void f);",
        &["function number 1undefined,2 -1 false undefined"],
    );
    check_uses(
        "class B extends Thing { [value] = value; static s = f(3) } log(new B().m(), new B()[1], B.s);",
        &["m 1 undefined,3"],
    );
    check_uses("const g = (a = value, { b = f(a) } = {}) => a + b; log(g());", &["1undefined,1"]);
    check_uses(
        "function h() { return value } log(h(), value ? 1 : 2, value in [0, 0], [...[value]], value?.x);",
        &["1 1 true 1 undefined"],
    );
    check_uses("for (const k in { f }) log(k); for (let i = value; i < 2; i++) log(i); while (!value);", &["f", "1"]);
    check_uses(
        "label: for (;;) { if (value) break label } switch (value) { case value: log('same') } throw_: try { throw value } catch (e) { log(e) }",
        &["same", "1"],
    );
    check_uses(
        "const a = async () => { log(await value) }; const g = function* () { yield value; yield* [value] }; log(...g());",
        &["1 1"],
    );
    check_uses("log(\\u0066(1), v\\u0061lue)", &["undefined,1 1"]);
}

#[test]
fn bindings_are_live() {
    check_uses("log(value); bump(); log(value, { value }.value); export { value as seen }", &["1", "2 2", "seen = 2"]);
    check(
        &[(
            "main.js",
            "export let a = 1; export { a as b }; export default function d() { a = 2; d = 3 }\nimport * as me from './main.js';\nme.default(); log(me.a, me.b, me.default);",
        )],
        &["2 2 3", "a = 2", "b = 2", "default = 3"],
    );
}

#[test]
fn local_names_hide_imported_ones() {
    check_uses(
        "(function (f) { log(f) })(1); ((value) => log(value))(2); (({ f }, [value]) => log(f, value))({ f: 3 }, [4]);",
        &["1", "2", "3 4"],
    );
    check_uses(
        "{ let f = 1; const value = 2; log(f, value) } { function f() { return 5 } log(f()) } { class Thing {} log(show(Thing)) }",
        &["1 2", "5", "function Thing"],
    );
    check_uses(
        "try { throw 1 } catch (f) { log(f) } try { throw { value: 2 } } catch ({ value }) { log(value) }",
        &["1", "2"],
    );
    check_uses(
        "for (let f = 0; f < 1; f++) log(f); for (const value of [3]) log(value); for (const f in { k: 1 }) log(f);",
        &["0", "3", "k"],
    );
    check_uses(
        "const g = function f() { return typeof f + f.length }; log(g()); const C = class Thing { n() { return Thing === C } }; log(new C().n());",
        &["function0", "true"],
    );
    check_uses("f: for (;;) { break f } value: { break value } log(({ f: 1, value() { return 2 } }).value());", &["2"]);
    check_uses(
        "function g() { var f = 1; return f } log(g()); function h() { if (true) { var value = 3 } return value } log(h());",
        &["1", "3"],
    );
    check_uses(
        "const x = { value: 3 }; log(x.value, x?.value, x['value']); class K { f() { return this.#f } #f = 4 } log(new K().f());",
        &["3 3 3", "4"],
    );
}

#[test]
fn text_that_looks_like_code() {
    check_uses(
        "log('import x from \"./y.js\"', `export const f = ${value}`, /import f from value/.test('f')); // import './nowhere.js'\n/* export default\n f */ log('f value');",
        &["import x from \"./y.js\" export const f = 1 false", "f value"],
    );
    check(&[("main.js", "let b = 2; log(1<!--b); log(b)")], &["false", "1"]);
    check(&[("main.js", "#!/usr/bin/env k6\n'use strict'\nlog('ü import')// the end")], &["ü import"]);
}

#[test]
fn cycles() {
    check(
        &[
            (
                "main.js",
                "import { even } from './even.js'; log(even(10)); export function odd(n) { return n !== 0 && even(n - 1) }",
            ),
            (
                "even.js",
                "import { odd } from './main.js'; export function even(n) { return n === 0 || odd(n - 1) } log(odd(3));",
            ),
        ],
        &["true", "true", "odd = function odd"],
    );
    check(
        &[
            ("main.js", "import './b.js'; export const a = 1; export let l = 2; export class C {} export var v = 3;"),
            (
                "b.js",
                "import { a, l, C, v } from './main.js'; for (const f of [() => a, () => l, () => C, () => v]) try { log(f()) } catch (e) { log(e.name) }",
            ),
        ],
        &[
            "ReferenceError",
            "ReferenceError",
            "ReferenceError",
            "undefined",
            "C = function C",
            "a = 1",
            "l = 2",
            "v = 3",
        ],
    );
    check(
        &[
            ("main.js", "import it from './b.js'; log(it()); export default function () { return 'hoisted' }"),
            ("b.js", "import main from './main.js'; log(main(), main.name); export default () => main();"),
        ],
        &["hoisted default", "hoisted", "default = function default"],
    );
    check(
        &[
            ("main.js", "import { x, y } from './a.js'; log(x, y);"),
            ("a.js", "export * from './b.js'; export * from './c.js';"),
            ("b.js", "export * from './a.js'; export const y = 1;"),
            ("c.js", "export const x = 2;"),
        ],
        &["2 1"],
    );
}

#[test]
fn one_file_under_many_names_is_one_module() {
    let library = "import { b } from '../b.js'; log('once'); export { b };";
    check(
        &[
            (
                "t/main.js",
                "import './lib/a.js'; import '../t/lib/a.js'; import { b } from './lib/../lib/./a.js'; log(b);",
            ),
            ("t/lib/a.js", library),
            ("t/b.js", "export const b = 1;"),
        ],
        &["once", "1"],
    );
    let script =
        "import '/t/lib/./a.js'; import 'file:///t/lib/a.js'; import './lib/a.js'; import 'file:///t/a%20b.js';";
    let all = files(&[
        ("/t/main.js", script),
        ("/t/lib/a.js", library),
        ("/t/b.js", "export let b;"),
        ("/t/a b.js", "log(2);"),
    ]);
    assert_eq!(run(&link_files(&all, "/t/main.js").unwrap()).log, ["once", "2"]);
}

#[test]
fn modules_run_once_in_the_order_of_the_language() {
    check(
        &[
            ("main.js", "log('main'); import './a.js'; export * from './b.js'; import './c.js';"),
            ("a.js", "import './c.js'; log('a');"),
            ("b.js", "log('b');"),
            ("c.js", "log('c');"),
        ],
        &["c", "a", "b", "main"],
    );
}

#[test]
fn only_what_can_be_seen_is_exported() {
    let all = files(&[
        (
            "main.js",
            "import { a, b } from './barrel.js'; import http from 'k6/http'; import * as unused from './lib.js'; log(a);",
        ),
        ("barrel.js", "export * from './lib.js'; export const c = 1;"),
        ("lib.js", "export const a = 1, b = 2, d = 3;"),
    ]);
    let bundle = link_files(&all, "main.js").unwrap();
    let prepared: Vec<&str> = bundle
        .modules
        .iter()
        .map(|module| module.source.split_once("yield;").unwrap().0.split_once(';').unwrap().1)
        .collect();
    assert_eq!(prepared, [r#"__export("a",()=>a);"#, "", "const __m0=__import(0);"]);
    let library = (
        "lib.js",
        "export let a = 1; export function b() { return show(this) } export const d = 3; export * from './c.js'",
    );
    let deeper = ("c.js", "export const c = 4, e = 5;");
    let main = "import * as lib from './lib.js'; log(lib.a, lib.c, lib?.nope, lib.b?.());";
    let all = files(&[("main.js", main), library, deeper]);
    assert_eq!(run(&link_files(&all, "main.js").unwrap()).log, ["1 4 undefined keys a,b,c"], "only what is named");
    for whole in ["const { d } = lib", "lib['d']", "show(lib)", "(() => lib)()"] {
        let expected = &["1 keys a,b,c,d,e"];
        check(
            &[("main.js", &format!("import * as lib from './lib.js'; {whole}; log(lib.a, lib.b());")), library, deeper],
            expected,
        );
    }
}

#[test]
fn our_own_names_do_not_clash() {
    check(
        &[
            (
                "main.js",
                "import { __m0, f as __import } from './a.js'; const __d = 1; log(__m0, __d, __import()); export default 3; log(typeof __export, typeof __0m1)",
            ),
            ("a.js", "export const __m0 = 2; export function f() { return typeof __meta }"),
        ],
        &["2 1 undefined", "undefined undefined", "default = 3"],
    );
}

#[test]
fn import_meta_is_what_the_host_gives() {
    let all = files(&[(
        "main.js",
        "const it = () => import.meta; log(import.meta.url, it() === import.meta, `${import\n.meta.url}`)",
    )]);
    assert_eq!(run(&link_files(&all, "main.js").unwrap()).log, ["file:///script.js true file:///script.js"]);
}

#[test]
fn stack_traces_name_the_lines_of_the_source() {
    let all = files(&[
        (
            "main.js",
            "import {\n  fail,\n} from './lib.js';\nimport http from 'k6/http';\n\nexport default function run() {\n  http.get(1);    fail();\n}\nrun();\n",
        ),
        (
            "lib.js",
            "export const a = 1;\n\nexport function fail() {\n    const x = 1; throw new RangeError('no');\n}\n",
        ),
    ]);
    let outcome = run(&link_files(&all, "main.js").unwrap());
    assert_eq!(outcome.error.as_deref(), Some("RangeError"));
    assert!(outcome.stack.contains("fail (lib.js:4:"), "{}", outcome.stack);
    assert!(outcome.stack.contains("run (main.js:7:"), "{}", outcome.stack);
    assert!(outcome.stack.contains("(main.js:9:"), "{}", outcome.stack);
    let native = run_native(&all, "main.js");
    let top = |stack: &str| stack.lines().nth(1).map(str::to_owned);
    assert_eq!(top(&outcome.stack), top(&native.stack), "line and column of the throw");
}
