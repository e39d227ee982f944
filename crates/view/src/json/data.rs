//! What `handleSummary(data)` is called with: k6's shape, whose groups and checks are lists in the order of first use.
//! What `setup()` returned is added by whoever makes the call.

use model::metric::{Contains, MetricType};
use model::plan::Plan;
use model::summary::{Check, Group, MetricTotal, Summary};
use serde_json::{Map, Value, json};

use super::export::{crossed, id, number, values};

/// Where a summary is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Screen {
    /// Whether standard output is a terminal.
    pub stdout_is_terminal: bool,
    /// Whether standard error is one.
    pub stderr_is_terminal: bool,
    /// Whether colours were forbidden.
    pub no_color: bool,
}

/// The argument of `handleSummary()` as JSON.
pub fn summary_data(summary: &Summary, plan: &Plan, screen: Screen) -> String {
    let metrics: Map<String, Value> = summary
        .metrics
        .iter()
        .map(|(selector, total)| (selector.clone(), metric(selector, total, summary, plan)))
        .collect();
    let data = json!({
        "root_group": group(&summary.root, ""),
        "options": {
            "summaryTrendStats": plan.summary_trend_stats,
            "summaryTimeUnit": plan.summary_time_unit.clone().unwrap_or_default(),
            "noColor": screen.no_color,
        },
        "state": {
            "isStdOutTTY": screen.stdout_is_terminal,
            "isStdErrTTY": screen.stderr_is_terminal,
            "testRunDurationMs": number(summary.duration_s * 1e3),
        },
        "metrics": metrics,
    });
    data.to_string()
}

fn metric(selector: &str, total: &MetricTotal, summary: &Summary, plan: &Plan) -> Value {
    let kind = match total.kind {
        MetricType::Counter => "counter",
        MetricType::Gauge => "gauge",
        MetricType::Rate => "rate",
        MetricType::Trend => "trend",
    };
    let contains = match total.contains {
        Contains::Default => "default",
        Contains::Time => "time",
        Contains::Data => "data",
    };
    let mut fields = json!({ "type": kind, "contains": contains, "values": values(total, summary, plan, "rate") });
    let rules = summary.thresholds.iter().filter(|result| result.selector == selector);
    let judged: Map<String, Value> =
        rules.map(|result| (result.expression.clone(), json!({ "ok": !crossed(result) }))).collect();
    if !judged.is_empty() {
        fields["thresholds"] = judged.into();
    }
    fields
}

fn group(of: &Group, parent: &str) -> Value {
    let path = if of.name.is_empty() { parent.to_owned() } else { format!("{parent}::{}", of.name) };
    let groups: Vec<Value> = of.groups.iter().map(|inner| group(inner, &path)).collect();
    let checks: Vec<Value> = of.checks.iter().map(|one| check(one, &path)).collect();
    json!({ "name": of.name, "path": path, "id": id(&path), "groups": groups, "checks": checks })
}

fn check(of: &Check, parent: &str) -> Value {
    let path = format!("{parent}::{}", of.name);
    json!({ "name": of.name, "path": path, "id": id(&path), "passes": of.passes, "fails": of.fails })
}
