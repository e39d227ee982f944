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
    insta::assert_snapshot!(shown("let a = 1;\n\tlet b = = 2;\n"), @r"
    main.js:2:10: syntax error: Unexpected token
    	let b = = 2;
    	        ^
    ");
    insta::assert_snapshot!(shown("let a = 1;\nlet a = 2;"), @r"
    main.js:2:5: syntax error: Identifier `a` has already been declared
    let a = 2;
        ^
    ");
    insta::assert_snapshot!(shown("const é = 'é'; return 1"), @r"
    main.js:1:16: syntax error: A 'return' statement can only be used within a function body.
    const é = 'é'; return 1
                   ^
    ");
    insta::assert_snapshot!(shown("export { nope };"), @r"
    main.js:1:10: syntax error: Export 'nope' is not defined
    export { nope };
             ^
    ");
    insta::assert_snapshot!(shown("function f() {"), @r"
    main.js:1:15: syntax error: Expected `}` but found `EOF`
    function f() {
                  ^
    ");
    insta::assert_snapshot!(shown("let x: number = = 1;"), @r"
    main.js:1:6: syntax error: Expected a semicolon or an implicit semicolon after a statement, but found none
    let x: number = = 1;
         ^
    ");
    insta::assert_snapshot!(shown("export const a = 1; export { a };"), @r"
    main.js:1:14: syntax error: Duplicated export 'a'
    export const a = 1; export { a };
                 ^
    ");
    insta::assert_snapshot!(shown(&format!("const a = '{}'; }} const b = '{}';", "x".repeat(300), "y".repeat(300))), @r"
    main.js:1:315: syntax error: Unexpected token
    xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'; } const b = 'yyyyyyyyyyyy
                                                                               ^
    ");
}

#[test]
fn imports_are_constant() {
    insta::assert_snapshot!(shown("import { x } from './a.js';\nx = 2;"), @r"
    main.js:2:1: syntax error: `x` is imported and cannot be assigned
    x = 2;
    ^
    ");
    for assignment in
        ["x++", "[x] = [1]", "({ x } = {})", "({ y: x = 2 } = {})", "for (x of []);", "x ??= 1", "() => { x = 1 }"]
    {
        let text = shown(&format!("import {{ x }} from './a.js'; {assignment}"));
        assert!(text.contains("`x` is imported and cannot be assigned") || text.contains("syntax error"), "{text}");
    }
}

#[test]
fn imports_that_lead_nowhere() {
    insta::assert_snapshot!(shown("import { x, nope } from './a.js';"), @r"
    main.js:1:13: `./a.js` has no export `nope`: it exports default, x
    import { x, nope } from './a.js';
                ^
    ");
    insta::assert_snapshot!(shown("import http, {\n  get, nope } from 'k6/http';"), @r"
    main.js:2:8: `k6/http` has no export `nope`: it exports default, get
      get, nope } from 'k6/http';
           ^
    ");
    insta::assert_snapshot!(shown("import x from './none.js';"), @r"
    main.js:1:8: `./none.js` has no export `default`: it exports nothing
    import x from './none.js';
           ^
    ");
    insta::assert_snapshot!(shown("export { nope as y } from './a.js';"), @r"
    main.js:1:18: `./a.js` has no export `nope`: it exports default, x
    export { nope as y } from './a.js';
                     ^
    ");
    insta::assert_snapshot!(shown("import x from 'k6/nope';"), @r"
    main.js:1:15: k6 has no module `k6/nope`
    import x from 'k6/nope';
                  ^
    ");
    insta::assert_snapshot!(shown("import _ from 'lodash';"), @r"
    main.js:1:15: `lodash` is neither a module of k6 nor a path (those begin with `./`, `../`, `/` or `file://`), and no folder `node_modules` here or above has it: install it with `npm install lodash`
    import _ from 'lodash';
                  ^
    ");
    insta::assert_snapshot!(shown("import './missing.js';"), @r"
    cannot read missing.js: entity not found, imported at main.js:1:8
    import './missing.js';
           ^
    ");
    insta::assert_snapshot!(shown("export * from './b';"), @r"
    cannot read b (nor with .js, .mjs, .cjs, .ts, .mts, .cts or .json behind it, nor an index file in it): entity not found, imported at main.js:1:15
    export * from './b';
                  ^
    ");
    insta::assert_snapshot!(shown("import fs from 'node:fs';"), @r"
    main.js:1:16: `fs` is a module of Node.js, which scripts do not have: use the modules of k6
    import fs from 'node:fs';
                   ^
    ");
    insta::assert_snapshot!(shown("import { join } from 'path';"), @r"
    main.js:1:22: `path` is a module of Node.js, which scripts do not have: use the modules of k6
    import { join } from 'path';
                         ^
    ");
    let circle = [("main.js", "export { x } from './b.js';"), ("b.js", "export { x } from './main.js';")];
    insta::assert_snapshot!(refused(&circle), @r"
    b.js:1:10: `./main.js` exports `x` only from a circle of files
    export { x } from './main.js';
             ^
    ");
    let twice = [
        ("main.js", "import { x } from './both.js';"),
        ("both.js", "export * from './a.js'; export * from './b.js';"),
        ("a.js", "export const x = 1;"),
        ("b.js", "export const x = 2;"),
    ];
    insta::assert_snapshot!(refused(&twice), @r"
    main.js:1:10: `./both.js` exports `x` twice, from different files
    import { x } from './both.js';
             ^
    ");
}

#[test]
fn what_is_not_supported_is_named() {
    insta::assert_snapshot!(shown("import x from 'https://example.org/x.js';"), @r"
    main.js:1:15: no network for https://example.org/x.js
    import x from 'https://example.org/x.js';
                  ^
    ");
    let data = [("main.js", "import x from './data.json' with { type: 'json' };"), ("data.json", "{\n  \"a\": 1,\n}")];
    insta::assert_snapshot!(refused(&data), @r"
    data.json:3:1: syntax error: not JSON: key must be a string
    }
    ^
    ");
    insta::assert_snapshot!(shown("import ws from 'k6/ws';"), @r"
    main.js:1:16: `k6/ws` is not supported yet
    import ws from 'k6/ws';
                   ^
    ");
    insta::assert_snapshot!(shown("import './a.js';\nmodule.exports = { a: 1 };"), @r"
    main.js:2:1: `module.exports` stands in a file with `import` or `export` statements, or `await` outside of a function: such a file is an ES module, so write `export` instead
    module.exports = { a: 1 };
    ^
    ");
    insta::assert_snapshot!(shown("await 1;\nexports.a = 1;"), @r"
    main.js:2:1: `exports` stands in a file with `import` or `export` statements, or `await` outside of a function: such a file is an ES module, so write `export` instead
    exports.a = 1;
    ^
    ");
    insta::assert_snapshot!(shown("class A { @bound m() {} }"), @r"
    main.js:1:11: decorators are not supported: JavaScript does not have them yet; call the function instead
    class A { @bound m() {} }
              ^
    ");
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
    assert_eq!(error.to_string(), "cannot read nowhere.js: entity not found");
}
