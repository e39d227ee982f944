//! What makes the run fail: `thresholds`, and the names of statistics that a summary shows.

use std::time::Duration;

use model::expression::{Aggregation, Expression, Selector};
use model::metric::{Metric, MetricType};
use model::plan::Threshold;
use serde_json::{Map, Value};

use super::read::{Fields, Notes, expected};

/// Beginnings of the names of k6's metrics that no part of this program measures yet.
const NOT_YET: [&str; 1] = ["browser_"];

/// Reads `thresholds`; `metrics` are all that the run will have.
pub(super) fn thresholds(map: &Map<String, Value>, metrics: &[Metric], notes: &mut Notes) -> Vec<Threshold> {
    map.iter().flat_map(|(name, value)| of_metric(name, value, metrics, notes)).collect()
}

fn of_metric(name: &str, value: &Value, metrics: &[Metric], notes: &mut Notes) -> Vec<Threshold> {
    let place = format!("threshold `{name}`");
    let selector: Selector = match name.parse() {
        Ok(selector) => selector,
        Err(error) => {
            notes.mistake(format!("{place}: {error}"));
            return Vec::new();
        }
    };
    let Some(metric) = metrics.iter().find(|metric| metric.name == selector.metric) else {
        let missing = &selector.metric;
        notes.mistake(if NOT_YET.iter().any(|start| missing.starts_with(start)) {
            format!("{place}: metric `{missing}` is not supported yet")
        } else {
            format!("{place}: neither k6 nor the script has a metric `{missing}`")
        });
        return Vec::new();
    };
    let list = match value {
        Value::Null => &[],
        Value::Array(list) => list.as_slice(),
        other => {
            notes.mistake(expected(&place, "a list such as `[\"rate<0.01\"]`", other));
            return Vec::new();
        }
    };
    if list.is_empty() {
        // An empty list only makes a submetric visible.
        return vec![Threshold { selector, expression: None, abort_on_fail: false, delay_abort_eval: Duration::ZERO }];
    }
    list.iter().filter_map(|one| threshold(&place, &selector, metric, one, notes)).collect()
}

fn threshold(place: &str, selector: &Selector, metric: &Metric, value: &Value, notes: &mut Notes) -> Option<Threshold> {
    let (text, abort_on_fail, delay_abort_eval) = match value {
        Value::String(text) => (text.as_str(), false, Duration::ZERO),
        Value::Object(map) => {
            let mut fields = Fields::new(format!("{place},"), map);
            let text = fields.required(notes, "threshold", |fields, notes, key| fields.text(notes, key));
            let abort = fields.flag(notes, "abortOnFail").unwrap_or(false);
            let delay = fields.duration(notes, "delayAbortEval").unwrap_or_default();
            for unknown in fields.unknown() {
                notes.warning(format!("{place} has no key `{unknown}`: it is ignored"));
            }
            (text?, abort, delay)
        }
        other => {
            notes.mistake(expected(place, "text or `{ threshold, abortOnFail, delayAbortEval }`", other));
            return None;
        }
    };
    let expression: Expression = text.parse().map_err(|error| notes.mistake(format!("{place}: {error}"))).ok()?;
    if !expression.aggregation.fits(metric.kind) {
        notes.mistake(format!(
            "{place}: a {:?} such as `{}` has no `{}`, only {}",
            metric.kind,
            metric.name,
            expression.aggregation,
            aggregations(metric.kind)
        ));
        return None;
    }
    Some(Threshold { selector: selector.clone(), expression: Some(expression), abort_on_fail, delay_abort_eval })
}

fn aggregations(kind: MetricType) -> &'static str {
    match kind {
        MetricType::Counter => "count and rate",
        MetricType::Gauge => "value",
        MetricType::Rate => "rate",
        MetricType::Trend => "avg, min, max, med and p(N)",
    }
}

/// Notes a mistake for every name that is no statistic of a Trend.
pub(super) fn check_trend_stats(stats: &[String], notes: &mut Notes) {
    for stat in stats {
        // A statistic is what may stand in front of a threshold's sign.
        let aggregation = format!("{stat}<0").parse::<Expression>().map(|expression| expression.aggregation);
        let fits = stat == "count" || aggregation.is_ok_and(|it: Aggregation| it.fits(MetricType::Trend));
        if !fits {
            notes.mistake(format!(
                "option `summaryTrendStats`: `{stat}` is none of avg, min, med, max, count and p(N) with N from 0 to 100"
            ));
        }
    }
}
