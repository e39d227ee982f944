//! What a script can import: CommonJS, JSON, packages, remote modules, and modules that wait.
#![expect(clippy::unwrap_used, reason = "a test that cannot prepare itself has failed")]

use std::collections::BTreeMap;
use std::sync::Arc;

use script::{Fetch, Isolation, LoadSettings, ModuleSettings, load};

use crate::driver::ISOLATIONS;

/// Loads the first of the files, in a folder of their own, and returns its log or the error.
fn try_log(files: &[(&str, &str)], modules: ModuleSettings, isolation: Isolation) -> Result<Vec<String>, String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let settings = LoadSettings { modules, isolation, ..LoadSettings::default() };
    let loaded = load(&folder.path().join(files[0].0), settings);
    let prefix = format!("{}/", folder.path().display());
    let loaded = loaded.map_err(|error| error.to_string().replace(&prefix, ""))?;
    Ok(loaded.log.into_iter().map(|line| line.text).collect())
}

/// A script that logs this; it need not export a function.
#[track_caller]
fn check(files: &[(&str, &str)], expected: &[&str]) {
    for isolation in ISOLATIONS {
        let mut files = files.to_vec();
        let script = if files[0].1.contains("exports.default") || files[0].1.contains("export default") {
            files[0].1.to_owned()
        } else {
            format!("{}\nexport default function () {{}}", files[0].1)
        };
        files[0].1 = &script;
        let log = try_log(&files, ModuleSettings::default(), isolation).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(log, expected);
    }
}

#[track_caller]
fn error_of(files: &[(&str, &str)]) -> String {
    try_log(files, ModuleSettings::default(), Isolation::Shared).unwrap_err()
}

#[test]
fn a_common_js_script() {
    check(
        &[
            (
                "script.js",
                "const http = require('k6/http'), { check } = require('k6'); const lib = require('./lib'); const es = require('./es.js');\n\
                 console.log(typeof http.get, typeof http.default.get, typeof check, lib.a, lib === require('./lib.js'), es.x, es.default, this === exports, typeof __filename);\n\
                 exports.options = { vus: 1 }; exports.default = function () {};",
            ),
            ("lib.js", "console.log('lib'); module.exports = { a: 1 };"),
            ("es.js", "import { y } from './deep.js'; console.log('es'); export const x = y; export default 'd';"),
            ("deep.js", "console.log('deep'); export const y = 5;"),
        ],
        &["lib", "deep", "es", "function function function 1 true 5 d true undefined"],
    );
    let text = "const { setup } = require('./x.js'); module.exports = { default: () => {}, setup };";
    check(
        &[("script.js", &format!("{text} // exports.default")), ("x.js", "exports.setup = () => {}; console.log(2)")],
        &["2"],
    );
}

#[test]
fn es_modules_import_common_js() {
    check(
        &[
            (
                "script.js",
                "import d, { named, nope } from './c.js'; import * as all from './c.js'; import { named as again } from './star.js';\n\
                 import fn from './fn.cjs'; import umd, { parse } from './umd.js';\n\
                 console.log(d.named, named, nope, Object.keys(all), again, fn(), fn.key, umd.parse === parse, parse());\n\
                 const late = require('./late.js'); console.log(late.v);",
            ),
            ("c.js", "exports.named = 5; exports.other = () => this;"),
            ("star.js", "export * from './c.js'; export const own = 1;"),
            (
                "fn.cjs",
                "var undeclared; implicit = 1; module.exports = function () { return 'called' }; module.exports.key = 'k'; return; broken()",
            ),
            (
                "umd.js",
                "(function (root, make) { if (typeof define === 'function' && define.amd) define([], make); else if (typeof module === 'object' && module.exports) module.exports = make(); else root.U = make() })(this, function () { return { parse: function () { return 'parsed' } } })",
            ),
            ("late.js", "exports.v = 'late'"),
        ],
        &[r#"5 5 undefined ["named","other","default"] 5 called k true parsed"#, "late"],
    );
}

#[test]
fn cycles_give_what_is_there_so_far() {
    check(
        &[
            ("script.js", "const a = require('./a.js'); console.log(a.done, a.seen); exports.default = () => {};"),
            ("a.js", "exports.done = false; const b = require('./b.js'); exports.seen = b.seen; exports.done = true;"),
            ("b.js", "exports.seen = require('./a.js').done;"),
        ],
        &["true false"],
    );
}

#[test]
fn names_made_by_the_script_lead_to_what_is_named_somewhere() {
    check(
        &[
            (
                "script.js",
                "const all = () => [require('./en.js'), require('k6/http')]; const name = 'en';\n\
                 console.log(require('./' + name + '.js').hi, require('./' + name).hi, typeof require('k6/' + 'http').get);\n\
                 try { require('./' + 'de.js') } catch (e) { console.log(e.message) }\n\
                 try { require('missing') } catch (e) { console.log(e.message) }\n\
                 try { require('./nowhere.js') } catch (e) { console.log(e.message.includes('nowhere.js')) }\n\
                 try { require(5) } catch (e) { console.log(e.message) } exports.default = all;",
            ),
            ("en.js", "exports.hi = 'hello'"),
            ("de.js", "exports.hi = 'hallo'"),
        ],
        &[
            "hello hello function",
            "cannot find module './de.js': a name that is made while the script runs can lead only to modules that some file names in its text, such as require('./file.js')",
            "`missing` is neither a module of k6 nor a path (those begin with `./`, `../`, `/` or `file://`), and no folder `node_modules` here or above has it: install it with `npm install missing`",
            "true",
            "require() needs the name of a module: a text",
        ],
    );
    let error = error_of(&[("script.js", "exports.default = () => {};\nrequire('./gone.js');")]);
    assert!(error.starts_with("script.js:2:") && error.contains("cannot read") && error.contains("gone.js"), "{error}");
}

#[test]
fn require_belongs_to_the_init_code() {
    let mut stage = crate::driver::stage("const k6 = require('k6'); exports.default = () => { require('k6') };");
    stage.run();
    let errors = stage.errors();
    assert!(errors[0].contains("require(\"k6\") is only possible in the init code"), "{errors:?}");
}

#[test]
fn json_is_imported_as_its_value() {
    check(
        &[
            (
                "script.ts",
                "import data from './data.json' with { type: 'json' }; import odd from './odd.json'; const again: any = require('./data.json');\n\
                 console.log(data.list[1], again.default === data, Object.keys(odd), Object.getPrototypeOf(odd) === Object.prototype);",
            ),
            ("data.json", "\u{feff}{\n  \"list\": [1, \"\u{2028}x\"]\n}\n"),
            ("odd.json", "{\"__proto__\": {\"a\": 1}}\n"),
        ],
        &["\u{2028}x true [\"__proto__\"] true"],
    );
}

#[test]
fn modules_may_wait() {
    check(
        &[
            (
                "script.js",
                "import { a } from './a.js'; import './side.js'; console.log('main', a, await Promise.resolve(2)); for await (const x of [3]) console.log(x);",
            ),
            ("a.js", "import './side.js'; export let a = 0; await null; await null; a = 1; console.log('a');"),
            ("side.js", "console.log('side');"),
        ],
        &["side", "a", "main 1 2", "3"],
    );
    let error = error_of(&[("script.js", "export default () => {};\nawait new Promise(() => {});")]);
    assert!(error.contains("waits for something that cannot come in the init code"), "{error}");
    let error = error_of(&[("script.js", "export default () => {};\nawait null;\nthrow new RangeError('late');")]);
    assert!(error.starts_with("script.js:3:") && error.contains("RangeError: late"), "{error}");
    let script = "require('./a.js'); exports.default = () => {};";
    assert!(error_of(&[("script.js", script), ("a.js", "await 1;")]).contains("the module uses `await` outside"));
}

#[test]
fn imports_in_calls_run_when_they_are_called() {
    check(
        &[
            (
                "script.js",
                "console.log('first'); const { x, default: d } = await import('./lib.js'); const k6 = await import('k6');\n\
                 console.log(x, d, typeof k6.check, (await import('./c' + '.js')).default.c); () => import('./c.js');\n\
                 await import('./gone.js').catch((e) => console.log(e.message.includes('gone.js')));",
            ),
            ("lib.js", "console.log('lib'); export const x = await 1; export default 2;"),
            ("c.js", "exports.c = 3"),
        ],
        &["first", "lib", "1 2 function 3", "true"],
    );
}

#[test]
fn packages_are_found_by_their_manifests() {
    check(
        &[
            (
                "deep/script.js",
                "import main from 'plain'; import { way } from 'dual'; import sub from 'dual/feature'; import star from '@scope/pack/lib/x.js';\n\
                 import index from 'bare'; import nested from 'outer'; const required = require('dual');\n\
                 console.log(main, way, sub, star, index, nested, required.way);",
            ),
            ("node_modules/plain/package.json", r#"{"main": "./lib/main"}"#),
            ("node_modules/plain/lib/main.js", "module.exports = 'main';"),
            (
                "node_modules/dual/package.json",
                r#"{"main": "never.js", "exports": {".": {"node": "./node.js", "import": {"default": "./es.mjs"}, "require": "./c.cjs"}, "./feature": ["./feature.js"]}}"#,
            ),
            ("node_modules/dual/es.mjs", "export const way = 'import';"),
            ("node_modules/dual/c.cjs", "exports.way = 'require';"),
            ("node_modules/dual/feature.js", "export default 'feature';"),
            ("node_modules/@scope/pack/package.json", r#"{"exports": {"./lib/*.js": "./src/*.js", "./*": null}}"#),
            ("node_modules/@scope/pack/src/x.js", "export default 'star';"),
            ("node_modules/bare/index.js", "export default 'index';"),
            ("node_modules/outer/package.json", r#"{"module": "es.js", "main": "c.js"}"#),
            ("node_modules/outer/es.js", "import inner from 'inner'; export default 'outer ' + inner;"),
            ("node_modules/outer/node_modules/inner/index.json", "\"inner\""),
        ],
        &["main import feature star index outer inner require"],
    );
    let error = error_of(&[
        ("script.js", "import x from 'dual/hidden';\nexport default () => {};"),
        ("node_modules/dual/package.json", r#"{"exports": "./es.mjs"}"#),
    ]);
    assert!(error.starts_with("script.js:1:15: the package `dual` in ") && error.contains("`dual/hidden`"), "{error}");
}

/// A network of these texts.
fn network(texts: &[(&str, &str)]) -> ModuleSettings {
    let texts: BTreeMap<String, String> = texts.iter().map(|&(url, text)| (url.to_owned(), text.to_owned())).collect();
    let fetch: Fetch = Arc::new(move |url| {
        texts
            .get(url.as_str())
            .map(|text| text.clone().into_bytes())
            .ok_or_else(|| "the server answered 404".to_owned())
    });
    ModuleSettings { fetch: Some(fetch), ..ModuleSettings::default() }
}

#[test]
fn remote_modules_import_beside_themselves() {
    let script = "import { a } from 'https://example.org/v1/lib/main.js?x=1'; import t from 'https://example.org/t.ts';\n\
        console.log(a, t); export default () => {};";
    let modules = network(&[
        ("https://example.org/v1/lib/main.js?x=1", "export * from '../other.js'; import 'k6'; import '/root.js';"),
        ("https://example.org/v1/other.js", "export const a = import.meta.url;"),
        ("https://example.org/root.js", "console.log('root');"),
        ("https://example.org/t.ts", "const t: number = 4; export default t;"),
    ]);
    let log = try_log(&[("script.js", script)], modules, Isolation::Shared).unwrap();
    assert_eq!(log, ["root", "https://example.org/v1/other.js 4"]);
}

#[test]
fn remote_mistakes_have_a_place_and_an_address() {
    let modules = network(&[
        ("https://example.org/bare.js", "import 'lodash';"),
        ("https://example.org/wrong.js", "\nlet x = ;"),
    ]);
    let error = |import: &str| {
        let script = format!("import '{import}';\nexport default () => {{}};");
        try_log(&[("script.js", &script)], modules.clone(), Isolation::Shared).unwrap_err()
    };
    let text = error("https://example.org/gone.js");
    assert!(
        text.starts_with("script.js:1:8: cannot import https://example.org/gone.js: the server answered 404\n"),
        "{text}"
    );
    assert!(
        error("https://example.org/bare.js").starts_with("https://example.org/bare.js:1:8: `lodash` is imported by")
    );
    assert!(error("https://example.org/wrong.js").starts_with("https://example.org/wrong.js:2:9: syntax error"));
    assert!(error("http://example.org/x.js").contains("must come by https://"));
    let offline = error_of(&[("script.js", "import 'https://example.org/x.js';")]);
    assert!(offline.contains("https://example.org/x.js: it is not in the cache"), "{offline}");
}
