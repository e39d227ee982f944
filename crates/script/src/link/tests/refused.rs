//! What cannot be linked, and what is said about it.

use super::engine::{files, link_files};
use crate::link::LinkError;

/// The error of a script, as shown.
fn shown(script: &str) -> String {
    refused(&[("main.js", script), ("a.js", "export const x = 1; export default 2;"), ("none.js", "")]).to_string()
}

fn refused(list: &[(&str, &str)]) -> LinkError {
    match link_files(&files(list), list[0].0) {
        Ok(bundle) => panic!("linked: {:#?}", bundle.modules),
        Err(error) => error,
    }
}

#[test]
fn syntax_errors_show_the_line() {
    insta::assert_snapshot!(shown("let a = 1;\n\tlet b = = 2;\n"), @"");
    insta::assert_snapshot!(shown("let a = 1;\nlet a = 2;"), @"");
    insta::assert_snapshot!(shown("const é = 'é'; return 1"), @"");
    insta::assert_snapshot!(shown("export { nope };"), @"");
    insta::assert_snapshot!(shown("function f() {"), @"");
    insta::assert_snapshot!(shown("let x: number = 1;"), @"");
    insta::assert_snapshot!(shown("export const a = 1; export { a };"), @"");
    insta::assert_snapshot!(shown(&format!("const a = '{}'; }} const b = '{}';", "x".repeat(300), "y".repeat(300))), @"");
}

#[test]
fn imports_are_constant() {
    insta::assert_snapshot!(shown("import { x } from './a.js';\nx = 2;"), @"");
    for assignment in
        ["x++", "[x] = [1]", "({ x } = {})", "({ y: x = 2 } = {})", "for (x of []);", "x ??= 1", "() => { x = 1 }"]
    {
        let text = shown(&format!("import {{ x }} from './a.js'; {assignment}"));
        assert!(text.contains("`x` is imported and cannot be assigned") || text.contains("syntax error"), "{text}");
    }
}

#[test]
fn imports_that_lead_nowhere() {
    insta::assert_snapshot!(shown("import { x, nope } from './a.js';"), @"");
    insta::assert_snapshot!(shown("import http, {\n  get, nope } from 'k6/http';"), @"");
    insta::assert_snapshot!(shown("import x from './none.js';"), @"");
    insta::assert_snapshot!(shown("export { nope as y } from './a.js';"), @"");
    insta::assert_snapshot!(shown("import x from 'k6/nope';"), @"");
    insta::assert_snapshot!(shown("import _ from 'lodash';"), @"");
    insta::assert_snapshot!(shown("import './missing.js';"), @"");
    insta::assert_snapshot!(shown("export * from './a';"), @"");
    let twice = [
        ("main.js", "import { x } from './both.js';"),
        ("both.js", "export * from './a.js'; export * from './b.js';"),
        ("a.js", "export const x = 1;"),
        ("b.js", "export const x = 2;"),
    ];
    insta::assert_snapshot!(refused(&twice), @"");
}

#[test]
fn what_is_not_supported_is_named() {
    insta::assert_snapshot!(shown("import x from 'https://jslib.k6.io/k6-utils/1.4.0/index.js';"), @"");
    insta::assert_snapshot!(shown("import x from './a.ts';"), @"");
    insta::assert_snapshot!(refused(&[("main.ts", "let a: number = 1;")]), @"");
    insta::assert_snapshot!(shown("import x from './data.json' with { type: 'json' };"), @"");
    insta::assert_snapshot!(shown("import ws from 'k6/ws';"), @"");
    insta::assert_snapshot!(shown("const x = 1;\nconst m = await import('./a.js');"), @"");
    insta::assert_snapshot!(shown("function f() { return import('./a.js') }"), @"");
    insta::assert_snapshot!(shown("for await (const x of []) ;"), @"");
    insta::assert_snapshot!(shown("const http = require('k6/http');"), @"");
    insta::assert_snapshot!(shown("module.exports = { a: 1 };"), @"");
    insta::assert_snapshot!(shown("exports.a = 1;"), @"");
    insta::assert_snapshot!(shown("(function (g, f) { typeof exports === 'object' && typeof module !== 'undefined' ? module.exports = f() : g.x = f() })(this, () => 1)"), @"");
}

#[test]
fn what_a_module_tests_for_may_stand_in_it() {
    let fine = "export const a = typeof require === 'function' ? require('x') : 1;\n\
        if (typeof module !== 'undefined') module.exports = a;\n\
        function local(require, exports, module) { exports.a = require('y'); module.exports = 2 }\n\
        const of = { async f() { await 1; for await (const x of []) ; } }; const g = async () => await 2;\n\
        globalThis.module?.hot; const module = { hot: 1 }; module.hot;";
    link_files(&files(&[("main.js", fine)]), "main.js").unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_missing_script_has_no_importer() {
    let error = link_files(&files(&[]), "nowhere.js").unwrap_err();
    assert!(matches!(error, LinkError::FileMissing { importer: None, .. }));
    assert_eq!(error.to_string(), "cannot read nowhere.js");
}
