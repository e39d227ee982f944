//! What `exec.test.options` shows of a plan: the options in k6's words, always as scenarios, null where nobody said
//! anything. Decides nothing.

use model::plan::{Executor, HttpSettings, Plan, Scenario, Stage};
use serde_json::{Map, Value, json};

use std::time::Duration;

/// All keys that k6 shows, in its order.
const KEYS: &[&str] = &[
    "paused",
    "scenarios",
    "executionSegment",
    "executionSegmentSequence",
    "noSetup",
    "setupTimeout",
    "noTeardown",
    "teardownTimeout",
    "rps",
    "dns",
    "maxRedirects",
    "userAgent",
    "batch",
    "batchPerHost",
    "httpDebug",
    "insecureSkipTLSVerify",
    "tlsCipherSuites",
    "tlsVersion",
    "tlsAuth",
    "throw",
    "thresholds",
    "blacklistIPs",
    "blockHostnames",
    "hosts",
    "noConnectionReuse",
    "noVUConnectionReuse",
    "minIterationDuration",
    "ext",
    "summaryTrendStats",
    "summaryTimeUnit",
    "systemTags",
    "tags",
    "metricSamplesBufferSize",
    "noCookiesReset",
    "discardResponseBodies",
    "consoleOutput",
    "localIPs",
];

/// The options that a plan was made of, given those that the script exports.
pub(crate) fn consolidated(plan: &Plan, exported: &Value) -> Value {
    let mut all: Map<String, Value> =
        KEYS.iter().map(|&key| (key.to_owned(), exported.get(key).cloned().unwrap_or(Value::Null))).collect();
    let scenarios = plan.scenarios.iter().map(|one| (one.name.clone(), scenario(one))).collect();
    all.insert("scenarios".to_owned(), Value::Object(scenarios));
    let tags = json!(plan.tags);
    all.insert("tags".to_owned(), if plan.tags.is_empty() { Value::Null } else { tags });
    all.insert("summaryTrendStats".to_owned(), json!(plan.summary_trend_stats));
    all.insert("systemTags".to_owned(), json!(super::SYSTEM_TAGS));
    // Flags and variables reach the plan alone: what differs there from the default was asked for.
    let (http, usual) = (&plan.http, HttpSettings::default());
    let mut asked = |key: &str, differs: bool, value: Value| {
        if differs {
            all.insert(key.to_owned(), value);
        }
    };
    asked("maxRedirects", http.max_redirects != usual.max_redirects, json!(http.max_redirects));
    asked("userAgent", http.user_agent != usual.user_agent, json!(http.user_agent));
    asked("insecureSkipTLSVerify", http.insecure_skip_tls_verify, json!(true));
    asked("throw", http.throw, json!(true));
    asked("noConnectionReuse", http.no_connection_reuse, json!(true));
    asked("noVUConnectionReuse", http.no_vu_connection_reuse, json!(true));
    asked("noCookiesReset", http.no_cookies_reset, json!(true));
    asked("discardResponseBodies", http.discard_response_bodies, json!(true));
    asked("minIterationDuration", !plan.min_iteration.is_zero(), text(plan.min_iteration));
    asked("summaryTimeUnit", plan.summary_time_unit.is_some(), json!(plan.summary_time_unit));
    Value::Object(all)
}

/// A scenario under k6's keys.
fn scenario(scenario: &Scenario) -> Value {
    let stages = |stages: &[Stage]| -> Value {
        stages.iter().map(|stage| json!({ "duration": text(stage.duration), "target": stage.target })).collect()
    };
    let own = match &scenario.executor {
        Executor::SharedIterations { vus, iterations, max_duration } => {
            json!({ "executor": "shared-iterations", "vus": vus, "iterations": iterations, "maxDuration": text(*max_duration) })
        }
        Executor::PerVuIterations { vus, iterations, max_duration } => {
            json!({ "executor": "per-vu-iterations", "vus": vus, "iterations": iterations, "maxDuration": text(*max_duration) })
        }
        Executor::ConstantVus { vus, duration } => {
            json!({ "executor": "constant-vus", "vus": vus, "duration": text(*duration) })
        }
        Executor::RampingVus { start_vus, stages: all, graceful_ramp_down } => json!({
            "executor": "ramping-vus", "startVUs": start_vus, "stages": stages(all), "gracefulRampDown": text(*graceful_ramp_down)
        }),
        Executor::ConstantArrivalRate { rate, time_unit, duration, pre_allocated_vus, max_vus } => json!({
            "executor": "constant-arrival-rate", "rate": rate, "timeUnit": text(*time_unit), "duration": text(*duration),
            "preAllocatedVUs": pre_allocated_vus, "maxVUs": max_vus
        }),
        Executor::RampingArrivalRate { start_rate, time_unit, stages: all, pre_allocated_vus, max_vus } => json!({
            "executor": "ramping-arrival-rate", "startRate": start_rate, "timeUnit": text(*time_unit), "stages": stages(all),
            "preAllocatedVUs": pre_allocated_vus, "maxVUs": max_vus
        }),
        Executor::ExternallyControlled { max_vus } => json!({ "executor": "externally-controlled", "maxVUs": max_vus }),
    };
    let Value::Object(mut all) = own else { unreachable!("all of them are objects") };
    all.insert("exec".to_owned(), json!(scenario.exec));
    all.insert("startTime".to_owned(), text(scenario.start_time));
    all.insert("gracefulStop".to_owned(), text(scenario.graceful_stop));
    all.insert("env".to_owned(), json!(scenario.env));
    all.insert("tags".to_owned(), json!(scenario.tags));
    Value::Object(all)
}

/// A duration as k6 writes it: `1m30s`, `500ms`.
fn text(duration: Duration) -> Value {
    let (seconds, millis) = (duration.as_secs(), duration.subsec_micros() as f64 / 1e3);
    if seconds == 0 && millis > 0.0 {
        return json!(format!("{millis}ms"));
    }
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let rest = (seconds % 60) as f64 + millis / 1e3;
    let text = match (hours, minutes) {
        (0, 0) => format!("{rest}s"),
        (0, _) => format!("{minutes}m{rest}s"),
        _ => format!("{hours}h{minutes}m{rest}s"),
    };
    json!(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_as_k6_writes_them() {
        for (millis, wanted) in
            [(0, "0s"), (500, "500ms"), (90_000, "1m30s"), (600_000, "10m0s"), (5_400_250, "1h30m0.25s")]
        {
            assert_eq!(text(Duration::from_millis(millis)), json!(wanted));
        }
    }

    #[test]
    fn shortcuts_are_gone_and_the_rest_is_null_unless_it_was_said() {
        let executor = Executor::ConstantVus { vus: 3, duration: Duration::from_secs(90) };
        let scenario = Scenario {
            name: "default".into(),
            executor,
            exec: "default".into(),
            start_time: Duration::ZERO,
            graceful_stop: Duration::from_secs(30),
            env: Default::default(),
            tags: Default::default(),
        };
        let http = HttpSettings { max_redirects: 3, ..HttpSettings::default() };
        let plan = Plan { scenarios: vec![scenario], http, ..Plan::default() };
        let all = consolidated(&plan, &json!({ "vus": 3, "duration": "90s", "thresholds": { "checks": ["rate>0"] } }));
        assert_eq!(all.get("vus"), None);
        assert_eq!(all["scenarios"]["default"]["duration"], "1m30s");
        assert_eq!(all["thresholds"]["checks"][0], "rate>0");
        assert_eq!((&all["maxRedirects"], &all["userAgent"]), (&json!(3), &Value::Null));
    }
}
