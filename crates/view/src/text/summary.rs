//! k6's end-of-test summary, block by block: thresholds, checks, metrics by subject, in its full form also each scenario
//! and group; and behind it what k6 does not say: endpoints, exceptions, what was not offered or not told apart.

mod blocks;
mod endpoints;
mod errors;
mod legacy;
mod metrics;

use std::collections::BTreeMap;

use model::metric::{Contains, MetricType};
use model::plan::{Plan, SummaryMode};
use model::summary::{Check, Group, Summary, ThresholdResult, ThresholdState};

use super::unit::{Format, TimeUnit};
use crate::layout::{Page, one_line, width};
use crate::number::share;
use crate::style::{Paint, Style};

/// All totals of a run as k6 shows them, in the mode of the plan.
pub fn summary(summary: &Summary, plan: &Plan, style: Style) -> String {
    let mut page = Page::new(style);
    let time_unit = TimeUnit::named(plan.summary_time_unit.as_deref());
    let mut all = Vec::new();
    gather(&summary.root, &mut all);
    match plan.summary_mode {
        SummaryMode::Disabled => return String::new(),
        SummaryMode::Legacy => legacy::write(&mut page, summary, plan, time_unit),
        SummaryMode::Compact | SummaryMode::Full => {
            thresholds(&mut page, summary, time_unit);
            title(&mut page, "TOTAL RESULTS");
            checks(&mut page, &all, summary.duration_s);
            metrics::write(&mut page, &summary.metrics, &metrics::Scope { summary, plan, time_unit });
        }
    }
    errors::write(&mut page, summary);
    endpoints::write(&mut page, summary, plan);
    if plan.summary_mode == SummaryMode::Full {
        blocks::write(&mut page, &metrics::Scope { summary, plan, time_unit });
    }
    page.finish()
}

fn title(page: &mut Page, text: &str) {
    let (block, text) = (page.style().pick("█", "#"), page.style().paint(Paint::Bold, text));
    page.line("");
    page.line(&format!("  {block} {text}"));
    page.line("");
}

/// Metric name and the part in braces, if there is one.
fn base(selector: &str) -> (&str, Option<&str>) {
    selector.find('{').map_or((selector, None), |at| (&selector[..at], Some(&selector[at..])))
}

fn thresholds(page: &mut Page, summary: &Summary, time_unit: TimeUnit) {
    if summary.thresholds.is_empty() {
        return;
    }
    // By metric, the metric itself in front of its submetrics, rules in the order of the script.
    let mut metrics: BTreeMap<&str, BTreeMap<Option<&str>, Vec<&ThresholdResult>>> = BTreeMap::new();
    for result in &summary.thresholds {
        let (metric, tags) = base(&result.selector);
        metrics.entry(metric).or_default().entry(tags).or_default().push(result);
    }
    title(page, "THRESHOLDS");
    for (metric, groups) in metrics {
        page.line(&format!("    {}", one_line(metric)));
        for (tags, results) in groups {
            let indent = if let Some(tags) = tags {
                page.line("");
                page.line(&format!("      {}", one_line(tags)));
                6
            } else {
                4
            };
            for result in results {
                let text = threshold(result, format(summary, result, time_unit, page.style()), page.style());
                page.line(&format!("{}{text}", " ".repeat(indent)));
            }
        }
        page.line("");
    }
}

fn format(summary: &Summary, result: &ThresholdResult, time_unit: TimeUnit, style: Style) -> Format {
    let (kind, contains) = summary
        .metrics
        .get(&result.selector)
        .or_else(|| summary.metrics.get(base(&result.selector).0))
        .map_or((MetricType::Trend, Contains::Default), |metric| (metric.kind, metric.contains));
    Format { kind, contains, time_unit, unicode: style.unicode }
}

fn threshold(result: &ThresholdResult, format: Format, style: Style) -> String {
    let expression = one_line(&result.expression);
    let aggregation = expression.split(['<', '>', '=', '!']).next().unwrap_or_default().trim();
    let (mark, paint, value) = match result.state {
        ThresholdState::Passed(value) => (style.passed(), Paint::Green, Some(value)),
        ThresholdState::Failed(value) => (style.failed(), Paint::Red, Some(value)),
        ThresholdState::NoData => ("?", Paint::Yellow, None),
    };
    let mark = style.paint(paint, mark);
    let Some(value) = value else { return format!("{mark} '{expression}' no data") };
    let value = match (format.kind, aggregation) {
        (MetricType::Counter, "rate") => format.per_second(value),
        _ => format.value(value),
    };
    format!("{mark} '{expression}' {aggregation}={}", style.paint(Paint::Cyan, &value))
}

/// Totals of all checks, then each check; one name counts once, whatever group it stands in, as in k6.
fn checks(page: &mut Page, checks: &[Check], duration_s: f64) {
    let passes: u64 = checks.iter().map(|check| check.passes).sum();
    let total = passes + checks.iter().map(|check| check.fails).sum::<u64>();
    if total == 0 {
        return;
    }
    let style = page.style();
    let kind = Format {
        kind: MetricType::Rate,
        contains: Contains::Default,
        time_unit: TimeUnit::Fitting,
        unicode: style.unicode,
    };
    let per_second = kind.per_second(share(total as f64, duration_s));
    let succeeded = kind.value(share(passes as f64, total as f64));
    let failed = kind.value(share((total - passes) as f64, total as f64));
    let columns = total.to_string().len().max(width(&succeeded)).max(width(&failed));
    for (name, value, detail) in [
        ("checks_total", total.to_string(), per_second),
        ("checks_succeeded", succeeded, format!("{passes} out of {total}")),
        ("checks_failed", failed, format!("{} out of {total}", total - passes)),
    ] {
        let dots = style.paint(Paint::Dim, &format!("{}:", ".".repeat(metrics::NAME_COLUMNS_MIN - name.len())));
        let value = style.paint(Paint::Cyan, &format!("{value:columns$}"));
        page.line(&format!("    {name}{dots} {value} {}", style.paint(Paint::Dim, &detail)));
    }
    page.line("");
    for check in checks {
        write_check(page, check);
    }
    page.line("");
}

fn write_check(page: &mut Page, check: &Check) {
    let style = page.style();
    let name = one_line(&check.name);
    if check.fails == 0 {
        page.hanging(&format!("    {} ", style.passed()), Paint::Green, &name);
        return;
    }
    page.hanging(&format!("    {} ", style.failed()), Paint::Red, &name);
    let total = u128::from(check.passes) + u128::from(check.fails);
    let whole_percent = u128::from(check.passes) * 100 / total;
    let detail = format!(
        "{}  {whole_percent}% {} {} {} / {} {}",
        style.pick("↳", "->"),
        style.pick("—", "-"),
        style.passed(),
        check.passes,
        style.failed(),
        check.fails
    );
    page.line(&format!("      {}", style.paint(Paint::Red, &detail)));
}

fn gather(group: &Group, checks: &mut Vec<Check>) {
    for check in &group.checks {
        if let Some(known) = checks.iter_mut().find(|known| known.name == check.name) {
            known.passes += check.passes;
            known.fails += check.fails;
        } else {
            checks.push(check.clone());
        }
    }
    for inner in &group.groups {
        gather(inner, checks);
    }
}
