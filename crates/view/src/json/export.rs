//! The file of k6's `--summary-export`: values of each metric flattened, a Rate's share named `value`, thresholds that
//! say whether they were *crossed*, groups and checks as objects by name.

use md5::{Digest, Md5};
use model::plan::Plan;
use model::summary::{Check, Group, MetricTotal, Summary, ThresholdResult, ThresholdState, Total};
use serde_json::{Map, Value, json};

use super::pretty;
use crate::number::share;
use crate::stat::stat_of;

/// All totals of a run in the shape of k6's `--summary-export`, with what `setup()` returned. Ends with a line end.
pub fn summary_export(summary: &Summary, plan: &Plan, setup_data: Option<&str>) -> String {
    let metrics: Map<String, Value> = summary
        .metrics
        .iter()
        .map(|(selector, metric)| (selector.clone(), export_metric(selector, metric, summary, plan)))
        .collect();
    let mut export = json!({ "root_group": export_group(&summary.root, ""), "metrics": metrics });
    if let Some(data) = setup_data.and_then(|data| serde_json::from_str::<Value>(data).ok()) {
        export["setup_data"] = data;
    }
    pretty(&export)
}

fn export_metric(selector: &str, metric: &MetricTotal, summary: &Summary, plan: &Plan) -> Value {
    let mut fields = values(metric, summary, plan, "value");
    let crossed: Map<String, Value> = summary
        .thresholds
        .iter()
        .filter(|result| result.selector == selector)
        .map(|result| (result.expression.clone(), crossed(result).into()))
        .collect();
    if !crossed.is_empty() {
        fields.insert("thresholds".to_owned(), crossed.into());
    }
    fields.into()
}

/// The values of a metric; `share_name` is what the share of a Rate is called.
pub(super) fn values(metric: &MetricTotal, summary: &Summary, plan: &Plan, share_name: &str) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut set = |name: &str, value: f64| {
        fields.insert(name.to_owned(), number(value));
    };
    match &metric.total {
        Total::Counter(sum) => {
            set("count", *sum);
            set("rate", share(*sum, summary.duration_s));
        }
        Total::Gauge { value, min, max, .. } => {
            set("value", *value);
            set("min", *min);
            set("max", *max);
        }
        Total::Rate { passes, total } => {
            set(share_name, share(*passes as f64, *total as f64));
            set("passes", *passes as f64);
            set("fails", (total - passes) as f64);
        }
        Total::Trend(trend) => {
            for name in &plan.summary_trend_stats {
                if let Some(value) = stat_of(trend, name) {
                    set(name, value);
                }
            }
        }
    }
    fields
}

pub(super) fn crossed(result: &ThresholdResult) -> bool {
    matches!(result.state, ThresholdState::Failed(_))
}

/// A group below `parent`; the root has neither name nor path.
fn export_group(group: &Group, parent: &str) -> Value {
    let path = if group.name.is_empty() { parent.to_owned() } else { format!("{parent}::{}", group.name) };
    let groups: Map<String, Value> =
        group.groups.iter().map(|inner| (inner.name.clone(), export_group(inner, &path))).collect();
    let checks: Map<String, Value> =
        group.checks.iter().map(|check| (check.name.clone(), export_check(check, &path))).collect();
    json!({ "name": group.name, "path": path, "id": id(&path), "groups": groups, "checks": checks })
}

fn export_check(check: &Check, parent: &str) -> Value {
    let path = format!("{parent}::{}", check.name);
    json!({ "name": check.name, "path": path, "id": id(&path), "passes": check.passes, "fails": check.fails })
}

/// k6 identifies groups and checks by the MD5 of their path.
pub(super) fn id(path: &str) -> String {
    Md5::digest(path.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A number without a needless `.0`, as JavaScript writes it; what is no number counts as 0.
pub(super) fn number(value: f64) -> Value {
    /// From here on a float does not tell neighbouring integers apart.
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    if !value.is_finite() {
        return 0.into();
    }
    if value.fract() == 0.0 && value.abs() < EXACT_MAX { (value as i64).into() } else { value.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_k6() {
        assert_eq!(id(""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(id("::outer"), "c34b428ee7255085dfe7fef53d3394d5");
        assert_eq!(id("::outer::inner::even"), "c6ddd186918a2c00e89f0cdb71b0a345");
    }

    #[test]
    fn whole_numbers_have_no_fraction() {
        assert_eq!(number(840.0).to_string(), "840");
        assert_eq!(number(-0.0).to_string(), "0");
        assert_eq!(number(0.625).to_string(), "0.625");
        assert_eq!(number(f64::NAN).to_string(), "0");
        assert_eq!(number(1e21).to_string(), "1e+21");
    }
}
