//! Random module graphs: linked, they must do what the engine's own modules do, and fail where those fail.

use std::fmt::Write;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::engine::{Files, link_files, run, run_native};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// How a module comes by a name.
#[derive(Clone, Debug)]
enum Declared {
    No,
    Here(&'static str),
    Imported { from: usize, name: &'static str },
    Namespace { from: usize },
}

#[derive(Clone, Debug)]
struct Generated {
    names: Vec<(Declared, bool)>,
    stars: Vec<usize>,
    passed_on: Vec<(usize, &'static str, &'static str)>,
    default: Option<&'static str>,
    statements: Vec<(&'static str, &'static str)>,
    semicolons: bool,
}

/// `@` is the name.
const DECLARATIONS: [&str; 6] = [
    "let @ = 'let';",
    "const @ = () => typeof this;",
    "var @ = 'var';",
    "function @() { return ['function', typeof this, ...arguments].join() }",
    "class @ { static x = 1 }",
    "const @ = { m() { return this === @ } };",
];

const DEFAULTS: [&str; 6] = [
    "export default 'default'",
    "export default function () { return 'anonymous' }",
    "export default class {}",
    "export default () => 'arrow'",
    "export default a",
    "export default async function named() {}",
];

const STATEMENTS: [&str; 25] = [
    "try { log(show(@.a), show(@.b)) } catch (e) { log(e.name) }",
    "try { @.c = 1; log(show(@.c)) } catch (e) { log(e.name) }",
    "later(() => log(show(@.d), show(@.default)))",
    "try { log(show(@)) } catch (e) { log(e.name) }",
    "try { log(show(@(1))) } catch (e) { log(e.name) }",
    "try { log(show((@)(1))) } catch (e) { log(e.name) }",
    "try { log(show(@?.())) } catch (e) { log(e.name) }",
    "try { log(show(@`text`)) } catch (e) { log(e.name) }",
    "try { log(show(new @())) } catch (e) { log(e.name) }",
    "try { log(show(@.x), show(@.m?.())) } catch (e) { log(e.name) }",
    "try { log(typeof @) } catch (e) { log(e.name) }",
    "try { log(show({ @ }), show({ @: 1 })) } catch (e) { log(e.name) }",
    "try { let q = log\n@(1)\nlog(show(q)) } catch (e) { log(e.name) }",
    "try { log(`${typeof `${show(@)}`}`) } catch (e) { log(e.name) }",
    "try { class X extends @ {} log(show(X.x)) } catch (e) { log(e.name) }",
    "later(() => log(show(@)))",
    "later(() => { log(show(@(2))) })",
    "{ const @ = 1; log(@) }",
    "{ let q = typeof @; { function @() { return q } log(@()) } var never }",
    "(function (@, q = @) { log(@, q) })(2)",
    "try { throw 3 } catch (@) { log(@) }",
    "for (const @ of [4]) log(@)",
    "@: for (;;) { break @ }",
    "(({ @ }) => log(@))({ @: 5 })",
    "log((function @() { return show(@) })())",
];

fn declared(count: usize) -> impl Strategy<Value = Declared> {
    prop_oneof![
        1 => Just(Declared::No),
        8 => select(&DECLARATIONS[..]).prop_map(Declared::Here),
        4 => (0..count, select(vec!["a", "b", "c", "d", "default"])).prop_map(|(from, name)| Declared::Imported { from, name }),
        1 => (0..count).prop_map(|from| Declared::Namespace { from }),
    ]
}

fn module(count: usize) -> impl Strategy<Value = Generated> {
    (
        vec((declared(count), prop::bool::weighted(0.95)), NAMES.len()),
        vec(0..count, 0..2),
        vec((0..count, select(&NAMES[..]), select(vec!["p", "q"])), 0..2),
        prop::option::weighted(0.95, select(&DEFAULTS[..])),
        vec((select(&STATEMENTS[..]), select(&NAMES[..])), 0..8),
        any::<bool>(),
    )
        .prop_map(|(names, stars, passed_on, default, statements, semicolons)| Generated {
            names,
            stars,
            passed_on,
            default,
            statements,
            semicolons,
        })
}

impl Generated {
    fn source(&self, own: usize) -> String {
        let end = if self.semicolons { ";\n" } else { "\n" };
        let mut text = format!("log('module {own}'){end}");
        for (at, (template, name)) in self.statements.iter().enumerate() {
            // Some statements stand above the declarations.
            if at % 3 == 0 {
                writeln!(text, "{};", template.replace('@', name)).unwrap();
            }
        }
        for ((declared, exported), name) in self.names.iter().zip(NAMES) {
            let prefix = if *exported { "export " } else { "" };
            match declared {
                Declared::No => continue,
                Declared::Here(template) => writeln!(text, "{prefix}{}", template.replace('@', name)).unwrap(),
                Declared::Imported { from, name: theirs } => {
                    write!(text, "import {{ {theirs} as {name} }} from './m{from}.js'{end}").unwrap();
                }
                Declared::Namespace { from } => write!(text, "import * as {name} from './m{from}.js'{end}").unwrap(),
            }
            if *exported && !matches!(declared, Declared::Here(_)) {
                write!(text, "export {{ {name} }}{end}").unwrap();
            }
        }
        for from in &self.stars {
            write!(text, "export * from './m{from}.js'{end}").unwrap();
        }
        for (from, theirs, ours) in &self.passed_on {
            write!(text, "export {{ {theirs} as {ours} }} from './m{from}.js'{end}").unwrap();
        }
        if let Some(default) = self.default {
            write!(text, "{default}{end}").unwrap();
        }
        for (at, (template, name)) in self.statements.iter().enumerate() {
            if at % 3 != 0 {
                writeln!(text, ";{}", template.replace('@', name)).unwrap();
            }
        }
        text
    }
}

fn graph() -> impl Strategy<Value = Files> {
    (1..5_usize).prop_flat_map(|count| vec(module(count), count)).prop_map(|modules| {
        modules.iter().enumerate().map(|(own, module)| (format!("m{own}.js"), module.source(own))).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn linked_graphs_do_what_native_modules_do(files in graph()) {
        let native = run_native(&files, "m0.js");
        match link_files(&files, "m0.js") {
            Err(error) => {
                prop_assert_eq!(native.error.as_deref(), Some("SyntaxError"), "refused: {}", error);
                prop_assert!(native.log.is_empty());
            }
            // The engine takes some detours through a cycle for circles; `refused` has a true one.
            Ok(_) if native.stack.contains("circular") => {}
            Ok(bundle) => {
                let linked = run(&bundle);
                prop_assert_eq!((&linked.log, &linked.error), (&native.log, &native.error), "{}\n{}\n{:#?}", linked.stack, native.stack, bundle.modules);
            }
        }
    }
}
