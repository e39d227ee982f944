//! Samples of two runs by metric and tags: the same ones, equally often. Must never look at their values or times, which
//! the summaries are compared by.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::metrics::OWN;
use super::{Differences, sorted};

/// Error codes whose text is that of the library that failed.
const LIBRARIES: [&str; 4] = ["1000", "1020", "1300", "1701"];
/// Most differences of one script that are shown.
const SHOWN_MAX: usize = 6;
/// Metrics that are sampled by the clock.
const BY_CLOCK: [&str; 4] = ["vus", "vus_max", "data_sent", "data_received"];

pub(super) fn compare(found: &mut Differences, k6: &[Value], ours: &[Value]) {
    let (k6, ours) = (count(k6), count(ours));
    let all: BTreeSet<_> = k6.keys().chain(ours.keys()).collect();
    let number = |counts: &BTreeMap<String, usize>, series: &String| counts.get(series).copied().unwrap_or(0);
    for series in all.into_iter().filter(|series| number(&k6, series) != number(&ours, series)).take(SHOWN_MAX) {
        found.add("tags", format!("{series} comes {} times; in k6 {}", number(&ours, series), number(&k6, series)));
    }
}

fn count(points: &[Value]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for point in points.iter().filter(|point| point["type"] == "Point") {
        let metric = point["metric"].as_str().unwrap();
        if !BY_CLOCK.contains(&metric) && !OWN.contains(&metric) {
            let mut tags = point["data"]["tags"].clone();
            if LIBRARIES.iter().any(|code| tags["error_code"] == **code) {
                tags["error"] = "an error of a library".into();
            }
            for key in ["url", "name"] {
                if let Some(url) = tags[key].as_str() {
                    tags[key] = grouped(url).into();
                }
            }
            *counts.entry(format!("{metric}{}", sorted(&tags))).or_insert(0) += 1;
        }
    }
    counts
}

/// A URL as Plimsoll groups it: without query, numbers as `{id}` (docs/k6-differences.md).
fn grouped(url: &str) -> String {
    let path = url.split('?').next().unwrap_or(url);
    let part = |part: &str| match !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()) {
        true => "{id}".to_owned(),
        false => part.to_owned(),
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}
