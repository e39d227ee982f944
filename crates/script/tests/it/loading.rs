//! What a script is before it runs: its facts, and every way in which it cannot be loaded.

use std::time::Duration;

use model::metric::{Contains, Metric, MetricType};
use model::plan::Executor;
use script::options::Overrides;
use script::{LoadError, LoadSettings, load};
use serde_json::json;

use crate::driver::{files, load_error, load_text, stage};

#[test]
fn facts_are_functions_metrics_and_options() {
    let text = "
        import { Trend, Counter } from 'k6/metrics';
        export const options = { vus: 3, thresholds: { wait: ['p(95)<200'] }, stages: [{ duration: '1s', target: 2 }] };
        new Trend('wait', true); new Counter('things'); new Trend('wait', true);
        export const limit = 5;
        export function setup() {}
        export default function () {}";
    let loaded = load_text(text, LoadSettings::default()).unwrap();
    assert_eq!(loaded.facts.exports, ["default", "setup"]);
    let wait = Metric::new("wait", MetricType::Trend, Contains::Time);
    assert_eq!(loaded.facts.metrics, [wait, Metric::new("things", MetricType::Counter, Contains::Default)]);
    let stages = json!([{"duration": "1s", "target": 2}]);
    assert_eq!(loaded.options, json!({"vus": 3, "thresholds": {"wait": ["p(95)<200"]}, "stages": stages}));
}

#[test]
fn the_plan_holds_the_metrics_of_the_script() {
    let text = "
        import { Trend } from 'k6/metrics'; new Trend('wait', true);
        export const options = { vus: 2, iterations: 4 };
        export default function () {}";
    let loaded = load_text(text, LoadSettings::default()).unwrap();
    let (plan, warnings) = loaded.plan(&Overrides::default()).map_err(|error| error.to_string()).unwrap();
    assert_eq!(plan.metrics.last().map(|metric| metric.name.as_str()), Some("wait"));
    let executor = Executor::SharedIterations { vus: 2, iterations: 4, max_duration: Duration::from_secs(600) };
    assert_eq!(plan.scenarios[0].executor, executor);
    assert_eq!(warnings, Vec::<String>::new());
}

#[test]
fn modules_of_a_script_share_their_state_within_a_user() {
    let count = "export let count = 0; export const up = () => { count++; }; export default class Box { v = count; }";
    let text = "import Box, { count, up } from './count.js'; import * as all from './count.js'; import { twice } from './twice.js';
        up(); twice(); console.log(count, all.count, new Box().v, Object.isExtensible(all));
        export default function () {}";
    let twice = "import { up } from './count.js'; export function twice() { up(); up(); }";
    let files = files(&[("script.js", text), ("count.js", count), ("twice.js", twice)]);
    let loaded = load(&files.script, LoadSettings::default()).map_err(|error| error.to_string()).unwrap();
    assert_eq!(loaded.log[0].text, "3 3 3 false");
}

#[test]
fn a_syntax_error_has_its_line() {
    let error = load_error("export default function () {\n  let x = ;\n}");
    assert!(error.contains("script.js:2:"), "{error}");
    assert!(error.contains("let x = ;"), "{error}");
}

#[test]
fn a_missing_script_is_named() {
    let error = load("nowhere/script.js".as_ref(), LoadSettings::default()).err().unwrap();
    assert!(matches!(error, LoadError::Link(script::link::LinkError::FileMissing { .. })), "{error}");
}

#[test]
fn a_throw_in_init_has_its_line_and_message() {
    let error = load_error("const a = 1;\nfunction f() {\n  a.b.c();\n}\nf();\nexport default f;");
    assert!(error.contains("script.js:3:"), "{error}");
    assert!(error.contains("TypeError: cannot read property 'c' of undefined"), "{error}");
    let error = load_text("throw new RangeError('no')", LoadSettings::default()).err().unwrap();
    assert!(matches!(error, LoadError::Init(_)), "{error}");
}

#[test]
fn a_script_without_functions_is_refused() {
    let error = load_text("export const options = {};", LoadSettings::default()).err().unwrap();
    assert!(matches!(error, LoadError::NoFunction { .. }), "{error}");
}

#[test]
fn what_is_missing_is_named_when_loading() {
    let error = load_error("import { browser } from 'k6/browser';\nexport default function () {}");
    assert!(error.contains("k6/browser"), "{error}");
    let error = load_error("import { nonsense } from 'k6';\nexport default function () {}");
    assert!(error.contains("nonsense"), "{error}");
    let error = load_error("nobodyKnowsThis({}); export default function () {}");
    assert!(error.contains("ReferenceError: nobodyKnowsThis is not defined"), "{error}");
}

#[test]
fn init_cannot_wait() {
    for (call, what) in [
        ("http.get('http://a/')", "an HTTP request is not possible in the init code"),
        ("sleep(1)", "sleep() is not possible in the init code"),
        ("check(1, {})", "check() is not possible in the init code"),
    ] {
        let text = format!(
            "import http from 'k6/http'; import {{ check, sleep }} from 'k6';\n{call};\nexport default function () {{}}"
        );
        let error = load_error(&text);
        assert!(error.contains(what), "{error}");
    }
}

#[test]
fn metrics_follow_the_rules_of_k6() {
    let metric = |code: &str| {
        load_error(&format!("import {{ Trend, Rate }} from 'k6/metrics';\n{code};\nexport default function () {{}}"))
    };
    assert!(metric("new Trend('a')").contains("invalid metric name 'a'"));
    assert!(metric("new Trend('aa'); new Rate('aa')").contains("metric 'aa' already exists, with another type"));
    let mut stage = stage("import { Trend } from 'k6/metrics'; export default function () { new Trend('late'); }");
    stage.run();
    let errors = stage.errors();
    assert!(errors[0].contains("creating a metric is only possible in the init code"), "{errors:?}");
}

#[test]
fn the_environment_is_a_plain_object() {
    let env = [("HOST".to_owned(), "example".to_owned())].into();
    let text = "console.log(__ENV.HOST, Object.keys(__ENV).length, JSON.stringify(__ENV), __VU, typeof __ITER);
        __ENV.X = 1; export default function () {}";
    let loaded = load_text(text, LoadSettings { env, ..LoadSettings::default() }).unwrap();
    assert_eq!(loaded.log[0].text, r#"example 1 {"HOST":"example"} 0 undefined"#);
}

#[test]
fn files_are_opened_beside_the_script() {
    let text = "import { tell } from './lib.js';
        const text = open('data.txt'); const bytes = new Uint8Array(open('./data.txt', 'b'));
        console.log(text, bytes.length, bytes[0], tell());
        export default function () { open('data.txt'); }";
    let lib = "export const tell = () => import.meta.url.split('/').pop();";
    let files = files(&[("script.js", text), ("data.txt", "hällo"), ("lib.js", lib)]);
    let loaded = load(&files.script, LoadSettings::default()).map_err(|error| error.to_string()).unwrap();
    assert_eq!(loaded.log[0].text, "hällo 6 104 lib.js");
    let error = load_error("open('absent.txt'); export default function () {}");
    assert!(error.contains("absent.txt: No such file"), "{error}");
}

#[test]
fn a_script_may_abort_in_init() {
    let text = "import exec from 'k6/execution'; exec.test.abort('not today'); export default function () {}";
    let error = load_text(text, LoadSettings::default()).err().unwrap();
    assert!(matches!(&error, LoadError::Aborted(reason) if reason == "not today"), "{error}");
}
