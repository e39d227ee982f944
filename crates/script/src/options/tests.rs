//! Options in, plan or mistakes out.

use std::collections::{BTreeMap, HashMap};

use model::metric::{Contains, MetricType};
use model::plan::{Executor, Stage, SummaryMode};
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn facts() -> ScriptFacts {
    ScriptFacts {
        exports: ["default", "buy", "setup", "teardown"].map(str::to_owned).to_vec(),
        metrics: vec![
            Metric::new("orders", MetricType::Counter, Contains::Default),
            Metric::new("queue", MetricType::Gauge, Contains::Default),
        ],
    }
}

fn plan_of(options: &Value, overrides: &Overrides) -> Result<(Plan, Vec<String>), OptionsError> {
    plan("script.js", options, &facts(), overrides).map(|planned| (planned.plan, planned.warnings))
}

/// Flags of the command line.
fn flags(flags: &Value) -> Overrides {
    Overrides { flags: flags.as_object().unwrap().clone(), ..Overrides::default() }
}

fn good(options: &Value) -> Plan {
    let (plan, warnings) = plan_of(options, &Overrides::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(warnings, [""; 0], "no warnings");
    plan
}

/// The mistakes, one a line.
fn bad(options: &Value) -> String {
    plan_of(options, &Overrides::default()).expect_err("a mistake").mistakes.join("\n")
}

fn warned(options: &Value, overrides: &Overrides) -> String {
    plan_of(options, overrides).unwrap_or_else(|error| panic!("{error}")).1.join("\n")
}

fn env(pairs: &[(&str, &str)]) -> Result<Overrides, OptionsError> {
    let map: HashMap<&str, &str> = pairs.iter().copied().collect();
    Overrides::from_env(|name| map.get(name).map(|&value| value.to_owned()))
}

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// All of a plan but its metrics.
fn listed(plan: &Plan) -> String {
    let scenarios: Vec<String> = plan.scenarios.iter().map(|scenario| format!("{scenario:?}")).collect();
    let bounds = (plan.setup, plan.teardown, plan.min_iteration);
    let summary = (&plan.summary_trend_stats, &plan.summary_time_unit);
    let all = [
        scenarios.join("\n"),
        format!("{:?}", plan.http),
        format!("tags {:?}, setup, teardown, iteration {bounds:?}, summary {summary:?}", plan.tags),
        format!("thresholds {:?}, promises {:?}", plan.thresholds, plan.promises),
    ];
    all.join("\n")
}

#[test]
fn defaults_are_those_of_k6() {
    let plan = good(&Value::Null);
    let http = HttpSettings { user_agent: "…".to_owned(), ..plan.http.clone() };
    insta::assert_snapshot!(listed(&Plan { http, ..plan.clone() }), @r#"
    Scenario { name: "default", executor: PerVuIterations { vus: 1, iterations: 1, max_duration: 600s }, exec: "default", start_time: 0ns, graceful_stop: 30s, env: {}, tags: {} }
    HttpSettings { user_agent: "…", max_redirects: 10, timeout: 60s, insecure_skip_tls_verify: false, no_connection_reuse: false, no_vu_connection_reuse: false, no_cookies_reset: false, discard_response_bodies: false, throw: false, group_names: true, http_version: Agreed, connection_max_age: None, connection_max_requests: None, body_bytes_max: 536870912 }
    tags {}, setup, teardown, iteration (Some(60s), Some(60s), 0ns), summary (["avg", "min", "med", "max", "p(90)", "p(95)"], None)
    thresholds [], promises []
    "#);
    let own = model::metric::BUILTIN.len();
    assert_eq!(plan.metrics.len(), own + 2);
    assert_eq!(plan.metrics[own].name, "orders");
    assert_eq!(good(&json!({})).scenarios, plan.scenarios);
    assert_eq!(good(&json!({ "duration": null, "stages": [], "scenarios": {} })).scenarios, plan.scenarios);
}

#[test]
fn shortcuts_stand_for_a_scenario() {
    let check = |options: &Value, expected: Executor| {
        let plan = good(options);
        assert_eq!(plan.scenarios.len(), 1);
        let scenario = &plan.scenarios[0];
        assert_eq!((scenario.name.as_str(), scenario.exec.as_str()), ("default", "default"));
        assert_eq!(scenario.graceful_stop, seconds(30));
        assert_eq!(scenario.executor, expected);
    };
    check(&json!({ "vus": 5, "duration": "1m" }), Executor::ConstantVus { vus: 5, duration: seconds(60) });
    check(&json!({ "duration": 1500 }), Executor::ConstantVus { vus: 1, duration: Duration::from_millis(1500) });
    check(
        &json!({ "vus": "5", "iterations": 7.0 }),
        Executor::SharedIterations { vus: 5, iterations: 7, max_duration: seconds(600) },
    );
    check(
        &json!({ "vus": 2, "iterations": 2, "duration": "10s" }),
        Executor::SharedIterations { vus: 2, iterations: 2, max_duration: seconds(10) },
    );
    check(
        &json!({ "vus": 3, "stages": [{ "duration": "10s", "target": 9 }, { "duration": 0, "target": "0" }] }),
        Executor::RampingVus {
            start_vus: 3,
            stages: vec![Stage { duration: seconds(10), target: 9 }, Stage { duration: seconds(0), target: 0 }],
            graceful_ramp_down: seconds(30),
        },
    );
}

#[test]
fn scenarios_have_all_keys_of_k6() {
    let plan = good(&json!({ "scenarios": {
        "shared": { "executor": "shared-iterations" },
        "own": { "executor": "per-vu-iterations", "vus": 2, "iterations": 3, "maxDuration": "1h", "exec": "buy",
            "startTime": "5s", "gracefulStop": "0s", "env": { "A": "b" }, "tags": { "c": "d" }, "options": {} },
        "loop": { "executor": "constant-vus", "vus": 4, "duration": "2d4h" },
        "ramp": { "executor": "ramping-vus", "startVUs": 0, "stages": [{ "duration": "1s", "target": 1 }], "gracefulRampDown": "1s" },
        "open": { "executor": "constant-arrival-rate", "rate": 90, "timeUnit": "1m", "duration": "1m", "preAllocatedVUs": 5, "maxVUs": 6 },
        "rise": { "executor": "ramping-arrival-rate", "startRate": 3, "timeUnit": "1m", "stages": [{ "duration": "1s", "target": 1 }],
            "preAllocatedVUs": 5, "maxVUs": 6 },
        "outside": { "executor": "externally-controlled", "vus": 2, "maxVUs": 9, "duration": "1m" },
        "open-too": { "executor": "constant-arrival-rate", "rate": 1, "duration": "1m", "preAllocatedVUs": 5 },
    } }));
    let own = &plan.scenarios[1];
    assert_eq!(own.name, "own");
    assert_eq!(own.exec, "buy");
    assert_eq!((own.start_time, own.graceful_stop), (seconds(5), seconds(0)));
    assert_eq!(own.env, BTreeMap::from([("A".to_owned(), "b".to_owned())]));
    assert_eq!(own.tags, BTreeMap::from([("c".to_owned(), "d".to_owned())]));
    let executors: Vec<Executor> = plan.scenarios.into_iter().map(|scenario| scenario.executor).collect();
    let stages = vec![Stage { duration: seconds(1), target: 1 }];
    let expected = [
        Executor::SharedIterations { vus: 1, iterations: 1, max_duration: seconds(600) },
        Executor::PerVuIterations { vus: 2, iterations: 3, max_duration: seconds(3600) },
        Executor::ConstantVus { vus: 4, duration: seconds(52 * 3600) },
        Executor::RampingVus { start_vus: 0, stages: stages.clone(), graceful_ramp_down: seconds(1) },
        Executor::ConstantArrivalRate {
            rate: 90.0,
            time_unit: seconds(60),
            duration: seconds(60),
            pre_allocated_vus: 5,
            max_vus: 6,
        },
        Executor::RampingArrivalRate {
            start_rate: 3,
            time_unit: seconds(60),
            stages: stages.clone(),
            pre_allocated_vus: 5,
            max_vus: 6,
        },
        Executor::ExternallyControlled { vus: 2, max_vus: 9, duration: Some(seconds(60)) },
        Executor::ConstantArrivalRate {
            rate: 1.0,
            time_unit: seconds(1),
            duration: seconds(60),
            pre_allocated_vus: 5,
            max_vus: 5,
        },
    ];
    assert_eq!(executors, expected);
}

#[test]
fn other_options_reach_the_plan() {
    let plan = good(&json!({
        "userAgent": "me", "maxRedirects": 0, "insecureSkipTLSVerify": true, "noConnectionReuse": true,
        "noVUConnectionReuse": true, "noCookiesReset": true, "discardResponseBodies": true, "throw": true,
        "minIterationDuration": "2s", "setupTimeout": "3s", "teardownTimeout": 4000, "tags": { "a": "b" },
        "summaryTrendStats": ["avg", "p(99.9)", "count"], "summaryTimeUnit": "ms", "ext": { "loadimpact": {} }, "cloud": {},
        "systemTags": system_tags::DEFAULT, "paused": false, "httpDebug": "", "hosts": {}, "rps": 0,
    }));
    let http = HttpSettings {
        user_agent: "me".to_owned(),
        max_redirects: 0,
        insecure_skip_tls_verify: true,
        no_connection_reuse: true,
        no_vu_connection_reuse: true,
        no_cookies_reset: true,
        discard_response_bodies: true,
        throw: true,
        ..HttpSettings::default()
    };
    assert_eq!(plan.http, http);
    assert_eq!((plan.setup, plan.teardown, plan.min_iteration), (Some(seconds(3)), Some(seconds(4)), seconds(2)));
    assert_eq!(plan.tags["a"], "b");
    assert_eq!(plan.summary_trend_stats, ["avg", "p(99.9)", "count"]);
    assert_eq!(plan.summary_time_unit.as_deref(), Some("ms"));
    let plan = good(&json!({ "noSetup": true, "noTeardown": true }));
    assert_eq!((plan.setup, plan.teardown), (None, None));
    let bare = ScriptFacts { exports: vec!["default".to_owned()], metrics: Vec::new() };
    let plan = super::plan("script.js", &Value::Null, &bare, &Overrides::default()).unwrap().plan;
    assert_eq!((plan.setup, plan.teardown), (None, None));
}

#[test]
fn thresholds_become_rules() {
    let plan = good(&json!({ "thresholds": {
        "http_req_duration": ["p(95)<500", { "threshold": "avg < 200", "abortOnFail": true, "delayAbortEval": "10s" }],
        "http_req_duration{name:login}": [],
        "orders": ["count>10", "rate>1"], "queue": ["value<3"], "checks{group:::buy}": ["rate>0.9"],
    } }));
    let shown: Vec<String> = plan
        .thresholds
        .iter()
        .map(|rule| {
            let text = rule.expression.as_ref().map_or("-", |expression| &expression.text);
            format!("{}: {text} {} {:?}", rule.selector, rule.abort_on_fail, rule.delay_abort_eval)
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r"
    http_req_duration: p(95)<500 false 0ns
    http_req_duration: avg < 200 true 10s
    http_req_duration{name:login}: - false 0ns
    orders: count>10 false 0ns
    orders: rate>1 false 0ns
    queue: value<3 false 0ns
    checks{group:::buy}: rate>0.9 false 0ns
    ");
    let off = Overrides { no_thresholds: true, ..Overrides::default() };
    let wrong = json!({ "thresholds": { "nope": ["rate<1"] } });
    assert_eq!(plan_of(&wrong, &off).unwrap().0.thresholds, []);
}

#[test]
fn wrong_thresholds_are_named() {
    insta::assert_snapshot!(bad(&json!({ "thresholds": {
        "nope": ["rate<1"], "browser_http_req_failed": ["rate>1"], "http_reqs{name": ["rate<1"], "checks": "rate>0.9",
        "orders": ["p(95)<1", "count>many", "count", 5, { "abortOnFail": "yes" }], "queue": ["rate<1"],
        "http_req_failed": ["count<1"], "http_req_duration": ["rate<1", "p(101)<1", { "threshold": "avg<1", "abortOnFail": 1, "delayAbortEval": "soon" }],
    } })), @r#"
    threshold `nope`: neither k6 nor the script has a metric `nope`
    threshold `browser_http_req_failed`: metric `browser_http_req_failed` is not supported yet
    threshold `http_reqs{name`: `http_reqs{name` is no metric selector: write for example `http_req_duration{name:login}`
    threshold `checks`: a list such as `["rate<0.01"]` is expected, `"rate>0.9"` was given
    threshold `orders`: a Counter such as `orders` has no `p(95)`, only count and rate
    threshold `orders`: `many` is no number: durations are in milliseconds, shares between 0 and 1
    threshold `orders`: `count` has no comparison: write for example `p(90)<500` (one of < <= > >= == !=)
    threshold `orders`: text or `{ threshold, abortOnFail, delayAbortEval }` is expected, `5` was given
    threshold `orders`, `threshold` is missing
    threshold `orders`, `abortOnFail`: `true` or `false` is expected, `"yes"` was given
    threshold `queue`: a Gauge such as `queue` has no `rate`, only value
    threshold `http_req_failed`: a Rate such as `http_req_failed` has no `count`, only rate
    threshold `http_req_duration`: a Trend such as `http_req_duration` has no `rate`, only avg, min, max, med and p(N)
    threshold `http_req_duration`: `p(101)` is no aggregation: use count, rate, value, avg, min, max, med or p(N) with N from 0 to 100
    threshold `http_req_duration`, `abortOnFail`: `true` or `false` is expected, `1` was given
    threshold `http_req_duration`, `delayAbortEval`: a duration such as `30s`, `1h30m`, `2d4h` or a number of milliseconds is expected, `soon` was given
    "#);
    let extra = json!({ "thresholds": { "checks": [{ "threshold": "rate>0.9", "abort": true }] } });
    insta::assert_snapshot!(warned(&extra, &Overrides::default()), @"threshold `checks` has no key `abort`: it is ignored");
}

#[test]
fn wrong_values_are_named() {
    insta::assert_snapshot!(bad(&json!({
        "vus": "many", "duration": "soon", "iterations": 1.5, "thresholds": [], "tags": { "a": 1 }, "userAgent": 1,
        "maxRedirects": -1, "throw": "yes", "minIterationDuration": "-5s", "setupTimeout": true, "teardownTimeout": -5,
        "summaryTrendStats": ["avg", "p(101)", "p95", 3, "rate"], "summaryTimeUnit": "h", "noSetup": 0,
    })), @r#"
    option `vus`: a whole number that is not negative is expected, `"many"` was given
    option `duration`: a duration such as `30s`, `1h30m`, `2d4h` or a number of milliseconds is expected, `soon` was given
    option `iterations`: a whole number that is not negative is expected, `1.5` was given
    option `thresholds`: an object is expected, `[]` was given
    option `tags`, `a`: text is expected, `1` was given
    option `throw`: `true` or `false` is expected, `"yes"` was given
    option `userAgent`: text is expected, `1` was given
    option `maxRedirects`: a whole number that is not negative is expected, `-1` was given
    option `noSetup`: `true` or `false` is expected, `0` was given
    option `setupTimeout`: a duration such as `30s` is expected, `true` was given
    option `teardownTimeout`: a duration cannot be negative, `-5` was given
    option `minIterationDuration`: a duration cannot be negative, `-5s` was given
    option `summaryTrendStats`[3]: text is expected, `3` was given
    option `summaryTrendStats`: `p(101)` is none of avg, min, med, max, count and p(N) with N from 0 to 100
    option `summaryTrendStats`: `p95` is none of avg, min, med, max, count and p(N) with N from 0 to 100
    option `summaryTrendStats`: `rate` is none of avg, min, med, max, count and p(N) with N from 0 to 100
    option `summaryTimeUnit`: `h` is none of s, ms and us
    "#);
    insta::assert_snapshot!(bad(&json!({ "vus": 5_000_000_000_u64, "stages": [5, { "target": 1 }, { "duration": "1s" }] })), @r"
    option `vus`: 5000000000 is more than can be
    option `stages`[0]: `{ duration, target }` is expected, `5` was given
    option `stages`[2], `target` is missing
    ");
    let odd = json!({ "stages": [{ "target": 1 }, { "duration": "1s", "target": 2, "rate": 1 }] });
    insta::assert_snapshot!(warned(&odd, &Overrides::default()), @"option `stages`[1] has no key `rate`: it is ignored");
    insta::assert_snapshot!(bad(&json!([1, 2])), @"the export `options`: an object is expected, `[1,2]` was given");
    insta::assert_snapshot!(bad(&json!({ "scenarios": [1], "duration": "200000d", "tags": "a long text that does not fit on a line of a message" })), @r#"
    option `duration`: `200000d` is too long a duration
    option `scenarios`: an object is expected, `[1]` was given
    option `tags`: an object is expected, `"a long text that does not fit on a line…` was given
    "#);
}

#[test]
fn impossible_loads_are_named() {
    insta::assert_snapshot!(bad(&json!({ "vus": 0, "duration": "1s" })), @"option `vus`: more than 0 is expected");
    insta::assert_snapshot!(bad(&json!({ "duration": "500ms" })), @"option `duration`: at least 1s is expected, 500ms was given");
    insta::assert_snapshot!(bad(&json!({ "vus": 5, "iterations": 3 })), @"option `iterations`: 3 iterations are too few for 5 users, who share them");
    insta::assert_snapshot!(bad(&json!({ "iterations": 0 })), @"option `iterations`: more than 0 is expected");
    insta::assert_snapshot!(bad(&json!({ "vus": 0, "stages": [{ "duration": "1s", "target": 0 }] })), @"option `stages`: a stage or the start must have users");
}

#[test]
fn wrong_scenarios_are_named() {
    insta::assert_snapshot!(bad(&json!({ "scenarios": {
        "bad name": { "executor": "constant-vus", "duration": "1s" },
        "none": {}, "text": "constant-vus", "number": { "executor": 1 },
        "unknown": { "executor": "constant-rate" },
        "rise": { "executor": "ramping-arrival-rate", "stages": [], "preAllocatedVUs": 1 },
        "few": { "executor": "ramping-arrival-rate", "stages": [{ "duration": "1s", "target": 1 }] },
        "outside": { "executor": "externally-controlled", "vus": 3, "maxVUs": 2, "duration": "0s", "gracefulStop": "1s" },
        "keys": { "executor": "constant-vus", "duration": "1s", "iterations": 3, "maxDuration": "1s" },
        "short": { "executor": "constant-vus", "vus": 0, "duration": "0.5s", "exec": "sell", "startTime": "-1s" },
        "missing": { "executor": "constant-vus", "exec": "setup", "gracefulStop": "x" },
        "shared": { "executor": "shared-iterations", "vus": 3, "iterations": 2, "maxDuration": "1ms" },
        "ramp": { "executor": "ramping-vus" },
        "flat": { "executor": "ramping-vus", "stages": [] },
        "empty": { "executor": "ramping-vus", "startVUs": 0, "stages": [{ "duration": "1s", "target": 0 }] },
        "open": { "executor": "constant-arrival-rate" },
        "odd": { "executor": "constant-arrival-rate", "rate": 0, "timeUnit": "0s", "duration": "1s", "preAllocatedVUs": 4, "maxVUs": 3 },
        "half": { "executor": "constant-arrival-rate", "rate": 0.5, "duration": "1s", "preAllocatedVUs": 0 },
        "page": { "executor": "constant-vus", "duration": "1s", "options": { "browser": { "type": "chromium" } }, "env": { "A": 1 } },
    } })), @r#"
    scenario `bad name`: a name may hold letters, digits, `_` and `-`
    scenario `none`, `executor` is missing
    scenario `text`: an object is expected, `"constant-vus"` was given
    scenario `number`, `executor`: text is expected, `1` was given
    scenario `unknown`: there is no executor `constant-rate`, use one of shared-iterations, per-vu-iterations, constant-vus, ramping-vus, constant-arrival-rate, ramping-arrival-rate, externally-controlled
    scenario `rise`, `stages`: at least one stage is expected
    scenario `few`, `preAllocatedVUs` is missing
    scenario `outside`, `maxVUs`: at least 3 is expected, 2 was given
    scenario `outside`, `gracefulStop`: the executor externally-controlled has none
    scenario `keys`: executor `constant-vus` has no key `iterations`
    scenario `keys`: executor `constant-vus` has no key `maxDuration`
    scenario `short`: the script exports no function `sell`, only default, buy
    scenario `short`, `startTime`: a duration cannot be negative, `-1s` was given
    scenario `short`, `vus`: more than 0 is expected
    scenario `short`, `duration`: at least 1s is expected, 500ms was given
    scenario `missing`: the script exports no function `setup`, only default, buy
    scenario `missing`, `gracefulStop`: a duration such as `30s`, `1h30m`, `2d4h` or a number of milliseconds is expected, `x` was given
    scenario `missing`, `duration` is missing
    scenario `shared`, `maxDuration`: at least 1s is expected, 1ms was given
    scenario `shared`, `iterations`: 2 iterations are too few for 3 users, who share them
    scenario `ramp`, `stages` is missing
    scenario `flat`, `stages`: at least one stage is expected
    scenario `empty`, `stages`: a stage or the start must have users
    scenario `open`, `rate` is missing
    scenario `open`, `duration` is missing
    scenario `open`, `preAllocatedVUs` is missing
    scenario `odd`, `rate`: more than 0 is expected
    scenario `odd`, `timeUnit`: more than 0 is expected
    scenario `odd`, `maxVUs`: at least 4 is expected, 3 was given
    scenario `half`, `rate`: a whole number that is not negative is expected, `0.5` was given
    scenario `half`, `maxVUs`: at least 1 is expected, 0 was given
    scenario `page`, `env`, `A`: text is expected, `1` was given
    scenario `page`: option `browser` is not supported yet
    "#);
}

#[test]
fn a_function_to_run_must_be_exported() {
    let facts = ScriptFacts { exports: vec!["setup".to_owned()], metrics: Vec::new() };
    let error = plan("script.js", &Value::Null, &facts, &Overrides::default()).unwrap_err();
    assert_eq!(error.to_string(), "scenario `default`: the script exports no function `default`");
    let facts = ScriptFacts { exports: vec!["default".to_owned(), "handleSummary".to_owned()], metrics: Vec::new() };
    let plan = |options| plan("script.js", &options, &facts, &Overrides::default()).unwrap().plan;
    assert_eq!(plan(Value::Null).handle_summary, Some(Duration::from_secs(120)));
    assert_eq!(plan(json!({ "handleSummaryTimeout": "5s" })).handle_summary, Some(Duration::from_secs(5)));
}

#[test]
fn what_is_not_supported_is_named() {
    for key in NOT_YET {
        assert_eq!(bad(&json!({ key: "x" })), format!("option `{key}` is not supported yet"));
    }
    assert_eq!(bad(&json!({ "systemTags": ["url", "vu"] })), "option `systemTags`: the tag `vu` is not supported yet");
    assert!(bad(&json!({ "paused": true, "linger": true })).contains("option `paused`: a run begins at once"));
}

#[test]
fn harmless_surprises_are_warnings() {
    insta::assert_snapshot!(warned(&json!({ "vuz": 3 }), &Overrides::default()), @"there is no option `vuz`: it is ignored");
    insta::assert_snapshot!(warned(&json!({ "vus": 3 }), &Overrides::default()), @"option `vus` (3) has no effect without `duration`, `iterations` or `stages`: one user runs one iteration");
    let scenarios = json!({ "vus": 3, "scenarios": { "a": { "executor": "shared-iterations" } } });
    insta::assert_snapshot!(warned(&scenarios, &Overrides::default()), @"option `vus` has no effect beside `scenarios`");
    let stronger = flags(&json!({ "duration": "5s" }));
    insta::assert_snapshot!(warned(&scenarios, &stronger), @"`scenarios` are not used: `duration` of the command line replaces them");
}

#[test]
fn mistakes_are_reported_together() {
    let error = plan_of(&json!({ "vus": -1, "features": ["x"] }), &Overrides::default()).unwrap_err();
    insta::assert_snapshot!(error, @r"
    2 mistakes in the options:
      - option `vus`: a whole number that is not negative is expected, `-1` was given
      - option `features` is not supported yet
    ");
}

/// What decides the load: all pairs on one level, and every key of a weaker level against every one of a stronger.
#[test]
fn precedence() {
    let script = |key: &str| match key {
        "duration" => json!({ key: "11s" }),
        "iterations" => json!({ key: 12 }),
        "stages" => json!({ key: [{ "duration": "13s", "target": 13 }] }),
        _ => json!({ key: { "mine": { "executor": "per-vu-iterations" } } }),
    };
    let level = |key: &str| match key {
        "duration" => env(&[("K6_DURATION", "21s")]).unwrap(),
        "iterations" => env(&[("K6_ITERATIONS", "22")]).unwrap(),
        _ => env(&[("K6_STAGES", "23s:23")]).unwrap(),
    };
    let kind = |plan: &Plan| match &plan.scenarios[0].executor {
        Executor::ConstantVus { duration, .. } => format!("duration {}", duration.as_secs()),
        Executor::SharedIterations { iterations, .. } => format!("iterations {iterations}"),
        Executor::RampingVus { stages, .. } => format!("stages {}", stages[0].target),
        _ => plan.scenarios[0].name.clone(),
    };
    let keys = ["duration", "iterations", "stages", "scenarios"];
    let value = |base: usize, key: &str| format!("{key} {}", base + keys.iter().position(|it| *it == key).unwrap());
    for weak in keys {
        for strong in ["duration", "iterations", "stages"] {
            let (plan, _) = plan_of(&script(weak), &level(strong)).unwrap();
            assert_eq!(kind(&plan), value(21, strong), "{strong} of the environment over {weak} of the script");
            let file = Overrides { file: script(weak).as_object().unwrap().clone(), ..Overrides::default() };
            let (plan, _) = plan_of(&script(strong), &file).unwrap();
            assert_eq!(kind(&plan), value(11, strong), "{strong} of the script over {weak} of a file");
            let (plan, _) = plan_of(&json!({ "vus": 1 }), &file).unwrap();
            let expected = if weak == "scenarios" { "mine".to_owned() } else { value(11, weak) };
            assert_eq!(kind(&plan), expected, "{weak} of a file alone");
            if weak != "scenarios" {
                let both = Overrides { flags: level(strong).environment, ..level(weak) };
                let (plan, _) = plan_of(&script("scenarios"), &both).unwrap();
                assert_eq!(kind(&plan), value(21, strong), "a flag's {strong} over the environment's {weak}");
            }
        }
        for other in keys {
            let mut both = script(weak);
            both[other] = script(other)[other].clone();
            let result = plan_of(&both, &Overrides::default());
            let allowed = weak == other
                || (weak, other) == ("duration", "iterations")
                || (weak, other) == ("iterations", "duration");
            assert_eq!(result.is_ok(), allowed, "{weak} and {other} in the script");
        }
    }
    let later = json!({ "scenarios": { "a": { "executor": "tomorrow's" } } });
    assert!(plan_of(&later, &level("duration")).is_ok(), "what is replaced is not judged");
    let (plan, _) = plan_of(&json!({ "vus": 2, "duration": "5s" }), &flags(&json!({ "vus": 4 }))).unwrap();
    assert_eq!(plan.scenarios[0].executor, Executor::ConstantVus { vus: 4, duration: seconds(5) });
    let (plan, _) = plan_of(&json!({ "vus": 2 }), &level("duration")).unwrap();
    assert_eq!(plan.scenarios[0].executor, Executor::ConstantVus { vus: 2, duration: seconds(21) });
    let error =
        env(&[("K6_DURATION", "1s"), ("K6_STAGES", "1s:1")]).and_then(|it| plan_of(&Value::Null, &it)).unwrap_err();
    insta::assert_snapshot!(error, @"options `duration` and `stages` contradict each other: give one of them");
}

#[test]
fn the_environment_overrides_the_script() {
    let overrides = env(&[
        ("K6_VUS", "7"),
        ("K6_DURATION", "90"),
        ("K6_NO_SETUP", "true"),
        ("K6_NO_TEARDOWN", "1"),
        ("K6_NO_THRESHOLDS", "T"),
        ("K6_SETUP_TIMEOUT", "1s"),
        ("K6_TEARDOWN_TIMEOUT", "2s"),
        ("K6_MAX_REDIRECTS", "3"),
        ("K6_USER_AGENT", "env"),
        ("K6_THROW", "true"),
        ("K6_DISCARD_RESPONSE_BODIES", "true"),
        ("K6_INSECURE_SKIP_TLS_VERIFY", "true"),
        ("K6_NO_CONNECTION_REUSE", "true"),
        ("K6_NO_VU_CONNECTION_REUSE", "true"),
        ("K6_NO_COOKIES_RESET", "false"),
        ("K6_MIN_ITERATION_DURATION", "1m"),
        ("K6_SUMMARY_TREND_STATS", "avg, p(99)"),
        ("K6_SUMMARY_TIME_UNIT", "us"),
        ("K6_TAGS", "a:b,c:d:e"),
        ("K6_ITERATIONS", ""),
    ])
    .unwrap();
    let script = json!({
        "vus": 1, "noSetup": false, "maxRedirects": 9, "userAgent": "script", "throw": false, "noCookiesReset": true,
        "minIterationDuration": "9s", "summaryTrendStats": ["max"], "summaryTimeUnit": "s", "tags": { "z": "z" },
        "iterations": 5, "thresholds": { "checks": ["rate>0"] },
    });
    let flags = flags(&json!({ "userAgent": "flag", "duration": "9s" })).flags;
    let (plan, _) = plan_of(&script, &Overrides { flags, ..overrides }).unwrap();
    insta::assert_snapshot!(listed(&plan), @r#"
    Scenario { name: "default", executor: ConstantVus { vus: 7, duration: 9s }, exec: "default", start_time: 0ns, graceful_stop: 30s, env: {}, tags: {} }
    HttpSettings { user_agent: "flag", max_redirects: 3, timeout: 60s, insecure_skip_tls_verify: true, no_connection_reuse: true, no_vu_connection_reuse: true, no_cookies_reset: false, discard_response_bodies: true, throw: true, group_names: true, http_version: Agreed, connection_max_age: None, connection_max_requests: None, body_bytes_max: 536870912 }
    tags {"a": "b", "c": "d:e"}, setup, teardown, iteration (None, None, 60s), summary (["avg", "p(99)"], Some("us"))
    thresholds [], promises []
    "#);
}

#[test]
fn a_wrong_environment_is_named() {
    insta::assert_snapshot!(env(&[
        ("K6_VUS", "-1"), ("K6_DURATION", "soon"), ("K6_STAGES", "10s"), ("K6_THROW", "maybe"), ("K6_TAGS", "a=b"),
        ("K6_RPS", "fast"), ("K6_DNS", "ttl"), ("K6_TLSAUTH", "x"), ("K6_ITERATIONS", "1.5"),
    ]).unwrap_err(), @r"
    9 mistakes in the options:
      - K6_VUS: a whole number that is not negative is expected, `-1` was given
      - K6_DURATION: a duration such as `30s`, `1h30m`, `2d4h` or a number of milliseconds is expected, `soon` was given
      - K6_ITERATIONS: a whole number that is not negative is expected, `1.5` was given
      - K6_STAGES: `10s:5,20s:10` is the form of stages, `10s` was given
      - K6_THROW: `true` or `false` is expected, `maybe` was given
      - K6_TAGS: `name:value,name:value` is the form of tags, `a=b` was given
      - K6_RPS: a whole number that is not negative is expected, `fast` was given
      - K6_DNS: `ttl=5m,select=random,policy=preferIPv4` is the form of it, `ttl` was given
      - K6_TLSAUTH: a JSON list is expected
    ");
    for name in ["K6_TRACES_OUTPUT", "K6_WEB_DASHBOARD"] {
        let error = env(&[(name, "x")]).unwrap_err().to_string();
        assert_eq!(error, format!("{name}: this option is not supported yet"));
    }
}

#[test]
fn a_config_file_is_weaker_than_the_script() {
    let mut overrides = Overrides::default();
    let text = r#"{ "vus": 9, "iterations": 99, "tags": { "a": "file" }, "userAgent": "file", "throw": true }"#;
    overrides.read_file("c.json", text).unwrap();
    let (plan, _) = plan_of(&json!({ "userAgent": "script", "tags": { "b": "script" } }), &overrides).unwrap();
    assert_eq!(
        plan.scenarios[0].executor,
        Executor::SharedIterations { vus: 9, iterations: 99, max_duration: seconds(600) }
    );
    assert_eq!((plan.http.user_agent.as_str(), plan.http.throw), ("script", true));
    assert_eq!(plan.tags, BTreeMap::from([("b".to_owned(), "script".to_owned())]), "a map is replaced as a whole");
    let wrong = |text: &str| Overrides::default().read_file("c.json", text).unwrap_err().to_string();
    assert!(wrong("{nope").starts_with("the config file c.json: this is no JSON"));
    assert_eq!(wrong("[]"), "the config file c.json: an object with options is expected");
}

#[test]
fn scripts_see_the_options_of_the_run() {
    let script = json!({ "vus": 3, "scenarios": { "a": { "executor": "shared-iterations", "exec": "buy" } }, "throw": false, "mine": 1 });
    let planned = plan("script.js", &script, &facts(), &Overrides::default()).unwrap();
    assert_eq!(planned.changes, json!({}));
    assert_eq!(planned.options["scenarios"]["a"]["exec"], "buy");
    assert_eq!(planned.options["scenarios"]["a"]["gracefulStop"], Value::Null);
    for key in ["vus", "duration", "iterations", "stages", "mine"] {
        assert_eq!(planned.options.get(key), None, "{key}");
    }
    assert_eq!(planned.options["rps"], Value::Null);
    assert_eq!(planned.options["dns"], json!({ "ttl": null, "select": null, "policy": null }));
    assert_eq!(planned.options["summaryTrendStats"], json!(TREND_STATS));
    let stronger = flags(&json!({ "duration": "5s", "throw": true }));
    let planned = plan("script.js", &script, &facts(), &stronger).unwrap();
    assert_eq!(planned.changes, json!({ "duration": "5s", "throw": true, "scenarios": {} }));
    let default = &planned.options["scenarios"]["default"];
    assert_eq!(
        (&default["executor"], &default["vus"], &default["duration"]),
        (&json!("constant-vus"), &json!(3), &json!("5s"))
    );
    assert_eq!(planned.options["throw"], true);
}

#[test]
fn one_scenario_or_one_iteration_can_be_asked_for() {
    let script = json!({ "scenarios": {
        "a": { "executor": "constant-vus", "duration": "1h" },
        "b": { "executor": "constant-vus", "vus": 5, "duration": "2h", "startTime": "1h", "exec": "buy" },
    } });
    let of = |scenario: Option<&str>, once| {
        let overrides = Overrides { scenario: scenario.map(str::to_owned), once, ..Overrides::default() };
        plan_of(&script, &overrides).map(|(plan, _)| plan.scenarios)
    };
    let only = of(Some("b"), false).unwrap();
    assert_eq!((only.len(), only[0].exec.as_str(), only[0].start_time), (1, "buy", seconds(0)));
    assert_eq!(only[0].executor, Executor::ConstantVus { vus: 5, duration: seconds(7200) });
    let once = of(None, true).unwrap();
    let one = Executor::PerVuIterations { vus: 1, iterations: 1, max_duration: seconds(600) };
    assert!(once.len() == 2 && once.iter().all(|scenario| scenario.executor == one));
    assert_eq!(of(Some("c"), false).unwrap_err().to_string(), "--scenario: there is no scenario `c`, only a, b");
}

#[test]
fn the_network_is_set_up_as_asked() {
    let plan = good(&json!({
        "hosts": { "a.test": "127.0.0.1", "*.b.test:80": "[::1]:8080" }, "blacklistIPs": ["10.0.0.0/8"],
        "blockHostnames": ["*.bad.test"], "dns": { "ttl": "0", "select": "roundRobin", "policy": "onlyIPv6" },
        "rps": 50, "batch": 0, "batchPerHost": 3, "localIPs": "127.0.0.1,127.0.1.1-127.0.1.3,127.0.2.0/30",
        "tlsVersion": { "min": "tls1.0", "max": "tls1.2" }, "tlsCipherSuites": ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"],
        "httpDebug": "full", "executionSegment": "1/4:1/2", "executionSegmentSequence": "0,1/4,1/2,1",
    }));
    let network = &plan.network;
    assert_eq!(network.mapped("a.test", 99), Some("127.0.0.1:99".parse().unwrap()));
    assert_eq!(network.mapped("x.b.test", 80), Some("[::1]:8080".parse().unwrap()));
    assert!(network.blocks_address("10.1.2.3".parse().unwrap()) && network.blocks_host("x.bad.test"));
    let dns = model::network::DnsSettings {
        ttl: Some(Duration::ZERO),
        select: model::network::DnsSelect::RoundRobin,
        policy: model::network::DnsPolicy::OnlyIpv6,
    };
    assert_eq!(network.dns, dns);
    assert_eq!((network.requests_per_s, network.batch, network.batch_per_host), (Some(50), None, Some(3)));
    let local: Vec<String> = network.local_addresses.iter().map(ToString::to_string).collect();
    assert_eq!(local, ["127.0.0.1", "127.0.1.1", "127.0.1.2", "127.0.1.3", "127.0.2.1", "127.0.2.2"]);
    assert_eq!(network.tls.version_max, Some(model::network::TlsVersion::Tls12));
    assert_eq!(network.http_debug, Some(model::network::HttpDebug::Full));
    assert_eq!(plan.segment.count(100), 25);
    assert_eq!(good(&json!({ "dns": { "ttl": "inf" } })).network.dns.ttl, None);
    assert_eq!(good(&Value::Null).network, model::network::NetworkSettings::default());
    let typed = env(&[
        ("K6_DNS", "ttl=1s,policy=any"),
        ("K6_HOSTS", r#"{"a":"127.0.0.9"}"#),
        ("K6_BLACKLIST_IPS", "10.0.0.0/8, 11.0.0.0/8"),
    ]);
    let (plan, _) = plan_of(&Value::Null, &typed.unwrap()).unwrap();
    assert_eq!((plan.network.dns.ttl, plan.network.blocked_networks.len()), (Some(seconds(1)), 2));
    assert_eq!(plan.network.mapped("a", 1), Some("127.0.0.9:1".parse().unwrap()));
}

#[test]
fn wrong_network_options_are_named() {
    insta::assert_snapshot!(bad(&json!({
        "hosts": { "a": "nope", "a*.b": "127.0.0.1" }, "blacklistIPs": ["x"], "blockHostnames": ["a*b"],
        "dns": { "ttl": "x", "select": "x", "policy": "x" }, "tlsVersion": "tls1.1", "tlsCipherSuites": ["nope"],
        "tlsAuth": [{ "cert": "x", "key": "s3cret" }, { "cert": "x" }, "s3cret", { "cert": "x", "key": "y", "password": "s3cret" }],
        "rps": -1, "batch": "x", "localIPs": "x", "httpDebug": "x", "executionSegment": "2:1",
    })), @r#"
    option `hosts`: `nope` is no IP address, with or without a port
    option `hosts`: `a*.b` is no host name and no pattern such as `*.example.com`
    option `dns`, `select`: `x` is none of first, random, roundRobin
    option `dns`, `policy`: `x` is none of preferIPv4, preferIPv6, onlyIPv4, onlyIPv6, any
    option `dns`, `ttl`: a duration such as `30s`, `1h30m`, `2d4h` or a number of milliseconds is expected, `x` was given (or `inf`)
    option `blacklistIPs`: `x` is no network such as `10.0.0.0/8`
    option `blockHostnames`: `a*b` is no host name and no pattern such as `*.example.com`
    option `localIPs`: `x` is none of an address, a range such as `10.0.0.1-10.0.0.9` and a network such as `10.0.0.0/24`
    option `rps`: a whole number that is not negative is expected, `-1` was given
    option `batch`: a whole number that is not negative is expected, `"x"` was given
    option `tlsAuth`[1], `key` is missing
    option `tlsAuth`[2]: `{ cert, key, domains }` is expected
    option `tlsAuth`[3]: a private key with a password is not supported: take it away with `openssl pkey -in key.pem`
    option `tlsCipherSuites`: `nope` is none of TLS_AES_256_GCM_SHA384, TLS_AES_128_GCM_SHA256, TLS_CHACHA20_POLY1305_SHA256, TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256
    option `tlsVersion`: only TLS 1.2 and 1.3 can be spoken here (1.0 and 1.1 are broken and not built in), and the range holds neither
    option `tlsAuth`[0]: the certificate holds no `BEGIN CERTIFICATE` block of PEM
    option `httpDebug`: `x` is none of headers and full
    option `executionSegment`: `2` is no part of a whole: write for example 1/3, 0.25 or 50%
    "#);
    insta::assert_snapshot!(warned(&json!({ "dns": { "foo": 1 } }), &Overrides::default()), @"option `dns` has no key `foo`: it is ignored");
    let flags = flags(&json!({ "executionSegment": "2:1", "summaryTimeUnit": "h" }));
    assert_eq!(flags.check_flags().unwrap_err().mistakes.len(), 2);
}

#[test]
fn stages_of_the_command_line() {
    let expected =
        [Stage { duration: seconds(10), target: 5 }, Stage { duration: Duration::from_millis(20), target: 0 }];
    assert_eq!(parse_stages("10s:5, 20:0").unwrap(), expected);
    for wrong in ["", "10s", "10s:", ":5", "10s:-5", "-10s:5", "10s:5,"] {
        assert!(parse_stages(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn durations() {
    let check = |text: &str, milliseconds: f64| {
        assert_eq!(parse_duration(text), Ok(Duration::from_secs_f64(milliseconds / 1e3)), "{text}");
    };
    check("500ms", 500.0);
    check("1h2m3s", 3_723_000.0);
    check("2d4h", 187_200_000.0);
    check("3d", 259_200_000.0);
    check("1500", 1500.0);
    check("0", 0.0);
    check("1.5", 1.5);
    check("+1.5h", 5_400_000.0);
    check(".5s", 500.0);
    check("100us", 0.1);
    check("100µs", 0.1);
    check("7ns", 0.000_007);
    check("1m1m", 120_000.0);
    check(" 10s ", 10_000.0);
    let refused = |text: &str| parse_duration(text).unwrap_err().to_string();
    for text in [
        "", "s", "1d2d", "1.5d", "10x", "1e3", "inf", "NaN", "1..5s", ".", "10s5", "1 s", "10sec", "d", "--1s", "1s-1s",
    ] {
        assert!(refused(text).contains("is expected") || refused(text).contains("negative"), "{text}");
    }
    assert_eq!(refused("-5s"), "a duration cannot be negative, `-5s` was given");
    assert_eq!(refused("36501d"), "`36501d` is too long a duration");
    assert_eq!(refused("99999999999999999999999s"), "`99999999999999999999999s` is too long a duration");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn durations_round_trip(days in 0_u64..1000, hours in 0_u64..100, minutes in 0_u64..100, seconds in 0_u64..100, millis in 0_u64..5000) {
        let length = Duration::from_millis((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000 + millis);
        let text = format!("{days}d{hours}h{minutes}m{seconds}s{millis}ms");
        prop_assert_eq!(parse_duration(&text), Ok(length));
        prop_assert_eq!(parse_duration(&length.as_millis().to_string()), Ok(length));
        prop_assert_eq!(parse_duration(&format!("{}s", length.as_secs_f64())), Ok(length));
        let options = json!({ "duration": length.as_millis() as u64 + 1000 });
        let executor = good(&options).scenarios[0].executor.clone();
        prop_assert_eq!(executor, Executor::ConstantVus { vus: 1, duration: length + super::Duration::from_secs(1) });
    }

    #[test]
    fn no_text_breaks_the_reader(text in ".{0,12}|[0-9dhmsn.µ+-]{0,12}") {
        let _ = parse_duration(&text);
        let _ = parse_stages(&text);
        let _ = plan_of(&json!({ "vus": text, "duration": text, "scenarios": { text.as_str(): text }, "thresholds": { text.as_str(): [text] } }), &Overrides::default());
    }
}

#[test]
fn system_tags_that_are_not_wanted_are_hidden() {
    let wanted: Vec<_> = system_tags::DEFAULT.iter().filter(|tag| **tag != "url").collect();
    assert_eq!(good(&json!({ "systemTags": wanted })).hidden_tags, ["url"]);
    assert_eq!(good(&Value::Null).hidden_tags, Vec::<String>::new());
    let overrides = env(&[("K6_SYSTEM_TAGS", "name,status"), ("K6_SUMMARY_MODE", "full")]).unwrap();
    let (plan, _) = plan_of(&json!({ "systemTags": ["url"] }), &overrides).unwrap();
    assert_eq!(plan.hidden_tags.len(), system_tags::DEFAULT.len() - 2);
    assert!(!plan.hidden_tags.iter().any(|tag| tag == "name" || tag == "status"));
    assert_eq!(plan.summary_mode, SummaryMode::Full);
    assert!(bad(&json!({ "systemTags": ["nmae"] })).contains("there is no system tag `nmae`"));
}
