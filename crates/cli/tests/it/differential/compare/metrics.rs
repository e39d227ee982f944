//! Metrics of two summaries: the same ones, the same counts, the same verdicts of thresholds. Must never compare figures
//! that hang on the clock.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{Differences, sorted};

/// Metrics that sample the run itself once a second.
const SAMPLED: [&str; 2] = ["vus", "vus_max"];
/// Metrics that k6 does not have (docs/k6-differences.md).
pub(super) const OWN: [&str; 1] = ["iteration_response_time"];
/// Metrics whose figures are the programs' own affair.
const BYTES: [&str; 2] = ["data_sent", "data_received"];
/// Metrics of times that the script did not make.
const TIMES: [&str; 7] = [
    "http_req_",
    "iteration_duration",
    "group_duration",
    "ws_connecting",
    "ws_session_duration",
    "ws_ping",
    "grpc_req_",
];
/// How far two percentiles of the same values may be apart.
const TOLERANCE: f64 = 0.01;

pub(super) fn compare(found: &mut Differences, k6: &Value, ours: &Value) {
    let none = Map::new();
    let (k6, ours) = (k6.as_object().unwrap_or(&none), ours.as_object().unwrap_or(&none));
    let names: BTreeSet<_> = k6
        .keys()
        .chain(ours.keys())
        .filter(|name| !SAMPLED.contains(&base(name)) && !OWN.contains(&base(name)))
        .collect();
    for name in names {
        match (k6.get(name), ours.get(name)) {
            (Some(k6), Some(ours)) => one(found, name, k6, ours),
            (Some(_), None) => found.add("metrics", format!("{name} is not there; in k6 it is")),
            _ => found.add("metrics", format!("{name} is there; in k6 it is not")),
        }
    }
}

/// A metric's name without its submetric's tags.
pub(super) fn base(name: &str) -> &str {
    name.split('{').next().unwrap_or(name)
}

fn is_time(name: &str) -> bool {
    base(name) != "http_req_failed" && TIMES.iter().any(|start| name.starts_with(start))
}

fn one(found: &mut Differences, name: &str, k6: &Value, ours: &Value) {
    found.unequal("thresholds", name, &sorted(&k6["thresholds"]), &sorted(&ours["thresholds"]));
    let keys = |metric: &Value| {
        let keys = metric.as_object().into_iter().flat_map(Map::keys).filter(|key| *key != "thresholds");
        keys.cloned().collect::<BTreeSet<_>>()
    };
    let (wanted, have) = (keys(k6), keys(ours));
    if wanted != have {
        found.add("metrics", format!("{name} has {have:?}; in k6 {wanted:?}"));
        return;
    }
    if is_time(name) || BYTES.contains(&base(name)) {
        return;
    }
    let is_counter = have.contains("count") && have.contains("rate") && have.len() == 2;
    for key in wanted.iter().filter(|key| !is_counter || *key == "count") {
        let figures = (k6[key].as_f64().unwrap_or(f64::NAN), ours[key].as_f64().unwrap_or(f64::NAN));
        let room = if is_count(key) { 0.0 } else { TOLERANCE * figures.0.abs() };
        if (figures.0 - figures.1).abs() > room || figures.0.is_nan() != figures.1.is_nan() {
            found.add("metrics", format!("{name}.{key} is {}; in k6 {}", figures.1, figures.0));
        }
    }
}

fn is_count(key: &str) -> bool {
    ["count", "passes", "fails", "value"].contains(&key)
}

/// What `handleSummary` got, without what hangs on the clock.
pub(super) fn without_times(mut document: Value) -> Value {
    if document["state"]["testRunDurationMs"].is_number() {
        document["state"]["testRunDurationMs"] = "a time".into();
    }
    if let Some(metrics) = document.get_mut("metrics").and_then(Value::as_object_mut) {
        metrics.retain(|name, _| !SAMPLED.contains(&base(name)) && !OWN.contains(&base(name)));
        for (name, metric) in metrics {
            for (key, value) in metric.get_mut("values").and_then(Value::as_object_mut).into_iter().flatten() {
                let is_rate_per_second = key == "rate" && metric_is_counter(name);
                if is_time(name) && key != "count" || BYTES.contains(&base(name)) || is_rate_per_second {
                    *value = "a time".into();
                }
            }
        }
    }
    document
}

/// Whether `rate` of this metric is one per second: rates of checks and failures are shares.
fn metric_is_counter(name: &str) -> bool {
    !["checks", "http_req_failed"].contains(&base(name)) && !name.contains("rate")
}
