//! Several levels of options become one: a stronger level replaces what a weaker one says, key by key; what decides the
//! load is replaced as a whole.

use model::plan::Scenario;
use serde_json::{Map, Value, json};

use super::read::Notes;
use super::{Overrides, is_unset};

/// What decides the load. Any of them on one level wipes all of them from the weaker levels.
const LOAD: [&str; 4] = ["duration", "iterations", "stages", "scenarios"];

/// k6's options, in its order; `test.options` has all of them.
const ALL: [&str; 36] = [
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
];

/// All levels in one, and a warning where scenarios are lost.
pub(super) fn merged(script: &Map<String, Value>, overrides: &Overrides, notes: &mut Notes) -> Map<String, Value> {
    let levels = [
        ("the config file", &overrides.file),
        ("the script", script),
        ("the archive", &overrides.archive),
        ("the environment", &overrides.environment),
        ("the command line", &overrides.flags),
    ];
    let mut all = Map::new();
    for (name, level) in levels {
        let decides = |key: &&str| level.get(*key).is_some_and(|value| !is_wiped(value));
        let given: Vec<&str> = LOAD.into_iter().filter(decides).collect();
        if !given.is_empty() {
            if all.get("scenarios").is_some_and(|value| !is_wiped(value)) && !given.contains(&"scenarios") {
                let given = given.join("` and `");
                notes.warning(format!("`scenarios` are not used: `{given}` of {name} replaces them"));
            }
            LOAD.into_iter().for_each(|key| drop(all.remove(key)));
        }
        let wanted =
            level.iter().filter(|(key, value)| !value.is_null() && (!LOAD.contains(&key.as_str()) || !is_wiped(value)));
        all.extend(wanted.map(|(key, value)| (key.clone(), value.clone())));
    }
    all
}

/// An empty list or object is no wish.
fn is_wiped(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty) || value.as_object().is_some_and(Map::is_empty)
}

/// What of the merged options each user's exported `options` must be given, since its own say otherwise.
pub(super) fn changes(script: &Map<String, Value>, merged: &Map<String, Value>) -> Map<String, Value> {
    let changed = merged.iter().filter(|(key, value)| script.get(*key) != Some(value));
    let mut changes: Map<String, Value> = changed.map(|(key, value)| (key.clone(), value.clone())).collect();
    for key in LOAD {
        if script.get(key).is_some_and(|value| !is_unset(value)) && !merged.contains_key(key) {
            let empty = if key == "scenarios" { json!({}) } else { Value::Null };
            changes.insert(key.to_owned(), empty);
        }
    }
    changes
}

/// What `test.options` is: every key of k6's, null where nobody says anything, and the load always as scenarios.
pub(super) fn consolidated(merged: &Map<String, Value>, default: Option<&Scenario>) -> Map<String, Value> {
    let mut all = Map::new();
    for key in ALL {
        let value = merged.get(key).cloned().unwrap_or(Value::Null);
        all.insert(key.to_owned(), value);
    }
    let with_all = |keys: &[&str], value: &Value| {
        let mut full: Map<String, Value> = keys.iter().map(|key| ((*key).to_owned(), Value::Null)).collect();
        full.extend(value.as_object().into_iter().flatten().map(|(key, value)| (key.clone(), value.clone())));
        Value::Object(full)
    };
    all["dns"] = with_all(&["ttl", "select", "policy"], &all["dns"]);
    let common = ["executor", "startTime", "gracefulStop", "env", "exec", "tags"];
    let complete = |value: &Value| {
        let own = value["executor"].as_str().map_or(&[][..], keys_of);
        with_all(&[&common[..], own].concat(), value)
    };
    let scenarios = match (merged.get("scenarios").and_then(Value::as_object), default) {
        (Some(map), _) => map.iter().map(|(name, value)| (name.clone(), complete(value))).collect(),
        (None, Some(scenario)) => Map::from_iter([(scenario.name.clone(), complete(&shortcut(merged, scenario)))]),
        (None, None) => Map::new(),
    };
    all["scenarios"] = Value::Object(scenarios);
    if all["summaryTrendStats"].is_null() {
        all["summaryTrendStats"] = json!(super::TREND_STATS);
    }
    if all["systemTags"].is_null() {
        let mut tags = super::system_tags::DEFAULT;
        tags.sort_unstable();
        all["systemTags"] = json!(tags);
    }
    all
}

/// The keys that scenarios of an executor have besides those of all.
fn keys_of(executor: &str) -> &'static [&'static str] {
    match executor {
        "shared-iterations" | "per-vu-iterations" => &["vus", "iterations", "maxDuration"],
        "constant-vus" => &["vus", "duration"],
        "ramping-vus" => &["startVUs", "stages", "gracefulRampDown"],
        "constant-arrival-rate" => &["duration", "rate", "timeUnit", "preAllocatedVUs", "maxVUs"],
        "ramping-arrival-rate" => &["startRate", "timeUnit", "stages", "preAllocatedVUs", "maxVUs"],
        "externally-controlled" => &["vus", "duration", "maxVUs"],
        _ => &[],
    }
}

/// The scenario that `duration`, `iterations` or `stages` stand for, in the words of a scenario.
fn shortcut(merged: &Map<String, Value>, scenario: &Scenario) -> Value {
    let mut words = Map::new();
    let executor = serde_json::to_value(&scenario.executor).unwrap_or_default();
    words.insert("executor".to_owned(), executor["executor"].clone());
    let renamed = |key: &str| match executor["executor"].as_str() {
        Some("ramping-vus") if key == "vus" => "startVUs".to_owned(),
        Some("shared-iterations") if key == "duration" => "maxDuration".to_owned(),
        _ => key.to_owned(),
    };
    for key in ["vus", "iterations", "duration", "stages"] {
        // Users alone change nothing.
        if let Some(value) = merged.get(key).filter(|_| executor["executor"] != "per-vu-iterations") {
            words.insert(renamed(key), value.clone());
        }
    }
    Value::Object(words)
}
