//! The metric lines of the summary: names padded with dots, values in columns, sections by subject.

use std::collections::BTreeMap;

use model::metric::BUILTIN;
use model::plan::{Plan, SummaryMode};
use model::summary::{MetricTotal, Summary, Total};

use super::super::unit::{Format, TimeUnit};
use crate::layout::{Page, one_line, width};
use crate::number::share;
use crate::stat::stat_of;
use crate::style::{Paint, Style};

/// Columns that a name and its dots take at least.
pub(super) const NAME_COLUMNS_MIN: usize = 35;
/// Dots behind the longest name.
const DOTS_MIN: usize = 3;

/// Built-in metrics that the compact summary shows by section; others only if a threshold speaks of them.
const SECTIONS: [(&str, &[&str]); 4] = [
    ("HTTP", &["http_req_duration", "http_req_failed", "http_reqs"]),
    (
        "EXECUTION",
        &["dropped_iterations", "iteration_duration", "iteration_response_time", "iterations", "vus", "vus_max"],
    ),
    ("NETWORK", &["data_received", "data_sent"]),
    (
        "WEBSOCKET",
        &["ws_connecting", "ws_msgs_received", "ws_msgs_sent", "ws_ping", "ws_session_duration", "ws_sessions"],
    ),
];
const CUSTOM: &str = "CUSTOM";
/// Metrics of protocols, by the beginning of their names; shown whenever there are any.
const PROTOCOLS: [(&str, &str); 2] = [("grpc_", "GRPC"), ("ws_", "WEBSOCKET")];

/// What the lines of a block have in common.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) summary: &'a Summary,
    pub(super) plan: &'a Plan,
    pub(super) time_unit: TimeUnit,
}

/// One line, before it is aligned.
struct Line {
    name: String,
    values: Values,
}

/// What stands behind the name.
enum Values {
    /// A value and what belongs to it.
    Single(String, Vec<String>),
    /// `avg=…`, `min=…`, …
    Trend(Vec<String>),
}

/// Writes all sections that have a metric.
pub(super) fn write(page: &mut Page, metrics: &BTreeMap<String, MetricTotal>, scope: &Scope<'_>) {
    let sections = sections(metrics, scope, page.style());
    let columns = Columns::of(sections.iter().flat_map(|(_, lines)| lines));
    for (title, lines) in &sections {
        let title = page.style().paint(Paint::Bold, title);
        page.line(&format!("    {title}"));
        for line in lines {
            let text = columns.assemble(line, page.style());
            page.line(&text);
        }
        page.line("");
    }
}

fn sections(
    metrics: &BTreeMap<String, MetricTotal>,
    scope: &Scope<'_>,
    style: Style,
) -> Vec<(&'static str, Vec<Line>)> {
    let mut families: BTreeMap<&str, Vec<&MetricTotal>> = BTreeMap::new();
    for metric in metrics.values() {
        families.entry(&metric.selector.metric).or_default().push(metric);
    }
    let mut sections: BTreeMap<usize, (&'static str, Vec<Line>)> = BTreeMap::new();
    for (name, family) in families {
        let Some((order, title)) = section(name, scope) else { continue };
        let lines = &mut sections.entry(order).or_insert((title, Vec::new())).1;
        lines.extend(lines_of(name, &family, scope, style));
    }
    sections.into_values().collect()
}

/// A metric and its submetrics.
fn lines_of(name: &str, family: &[&MetricTotal], scope: &Scope<'_>, style: Style) -> Vec<Line> {
    let with_base = family.iter().any(|metric| metric.selector.tags.is_empty());
    let line = |metric: &&MetricTotal| {
        let format =
            Format { kind: metric.kind, contains: metric.contains, time_unit: scope.time_unit, unicode: style.unicode };
        let selector = one_line(&metric.selector.to_string());
        let name = match selector[name.len()..].strip_prefix('{').and_then(|tags| tags.strip_suffix('}')) {
            Some(tags) if with_base => format!("  {{ {tags} }}"),
            _ => selector,
        };
        Line { name, values: values(&metric.total, format, scope.plan, scope.summary.duration_s) }
    };
    family.iter().map(line).collect()
}

/// Where a metric is shown, if at all; what is not built in is the script's own. `checks` has a block of its own.
fn section(name: &str, scope: &Scope<'_>) -> Option<(usize, &'static str)> {
    if !BUILTIN.iter().any(|(builtin, ..)| *builtin == name) {
        return Some((0, CUSTOM));
    }
    if let Some(position) = PROTOCOLS.iter().position(|(start, _)| name.starts_with(start)) {
        return Some((SECTIONS.len() + 1 + position, PROTOCOLS[position].1));
    }
    let shown = SECTIONS.iter().position(|(_, names)| names.contains(&name));
    let judged =
        || name != "checks" && scope.summary.thresholds.iter().any(|result| super::base(&result.selector).0 == name);
    let is_full = scope.plan.summary_mode == SummaryMode::Full && name.starts_with("http_");
    let position = shown.or_else(|| (is_full || judged()).then_some(usize::from(!name.starts_with("http_"))))?;
    Some((position + 1, SECTIONS[position].0))
}

/// The lines of all metrics in the order of their names, for k6's older form: each with what stands in front of it.
pub(super) fn list(
    page: &mut Page,
    metrics: &BTreeMap<String, MetricTotal>,
    scope: &Scope<'_>,
    lead: impl Fn(&str) -> String,
) {
    let mut families: BTreeMap<&str, Vec<&MetricTotal>> = BTreeMap::new();
    for metric in metrics.values() {
        families.entry(&metric.selector.metric).or_default().push(metric);
    }
    let mut lines = Vec::new();
    for (name, family) in families {
        let names = family.iter().map(|metric| metric.selector.to_string());
        lines.extend(names.zip(lines_of(name, &family, scope, page.style())));
    }
    let mut columns = Columns::of(lines.iter().map(|(_, line)| line));
    columns.name = lines.iter().map(|(_, line)| width(&line.name)).max().unwrap_or(0) + DOTS_MIN;
    for (selector, line) in &lines {
        let text = columns.assemble(line, page.style());
        page.line(&format!("{}{}", lead(selector), text.trim_start()));
    }
}

fn values(total: &Total, format: Format, plan: &Plan, duration_s: f64) -> Values {
    match total {
        Total::Counter(sum) => Values::Single(format.value(*sum), vec![format.per_second(share(*sum, duration_s))]),
        Total::Gauge { value, min, max, .. } => Values::Single(
            format.value(*value),
            vec![format!("min={}", format.value(*min)), format!("max={}", format.value(*max))],
        ),
        Total::Rate { passes, total } => {
            Values::Single(format.value(share(*passes as f64, *total as f64)), vec![format!("{passes} out of {total}")])
        }
        Total::Trend(trend) => Values::Trend(
            plan.summary_trend_stats
                .iter()
                .filter_map(|stat| {
                    let value = stat_of(trend, stat)?;
                    let text = if stat == "count" { trend.count().to_string() } else { format.value(value) };
                    Some(format!("{stat}={text}"))
                })
                .collect(),
        ),
    }
}

/// Widths that all sections share, so that values stand below each other.
struct Columns {
    name: usize,
    single: usize,
    details: Vec<usize>,
    trend: Vec<usize>,
}

impl Columns {
    fn of<'a>(lines: impl Iterator<Item = &'a Line>) -> Self {
        let mut columns = Self { name: NAME_COLUMNS_MIN, single: 0, details: Vec::new(), trend: Vec::new() };
        for line in lines {
            columns.name = columns.name.max(width(&line.name) + DOTS_MIN);
            match &line.values {
                Values::Single(value, details) => {
                    columns.single = columns.single.max(width(value));
                    // A detail that stands alone needs no column.
                    if details.len() > 1 {
                        widen(&mut columns.details, details);
                    }
                }
                Values::Trend(stats) => widen(&mut columns.trend, stats),
            }
        }
        columns
    }

    fn assemble(&self, line: &Line, style: Style) -> String {
        let dots = ".".repeat(self.name - width(&line.name));
        let dots = style.paint(Paint::Dim, &format!("{dots}:"));
        let values = match &line.values {
            Values::Single(value, details) => {
                let details = padded(details, &self.details);
                let value = style.paint(Paint::Cyan, &format!("{value:columns$}", columns = self.single));
                format!("{value} {}", style.paint(Paint::Dim, details.trim_end()))
            }
            Values::Trend(stats) => style.paint(Paint::Cyan, padded(stats, &self.trend).trim_end()),
        };
        format!("    {}{dots} {values}", line.name)
    }
}

fn widen(columns: &mut Vec<usize>, texts: &[String]) {
    columns.resize(columns.len().max(texts.len()), 0);
    for (column, text) in columns.iter_mut().zip(texts) {
        *column = (*column).max(width(text));
    }
}

fn padded(texts: &[String], columns: &[usize]) -> String {
    let pad = |(position, text): (usize, &String)| {
        format!("{text:columns$}", columns = columns.get(position).copied().unwrap_or(0))
    };
    texts.iter().enumerate().map(pad).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_of_a_section_is_built_in() {
        for name in SECTIONS.iter().flat_map(|(_, names)| names.iter()) {
            assert!(BUILTIN.iter().any(|(builtin, ..)| builtin == name), "{name}");
        }
    }
}
