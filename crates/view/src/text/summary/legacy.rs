//! k6's older summary: checks as a tree of groups, then all metrics in one list, those of thresholds with a mark.

use model::plan::Plan;
use model::summary::{Group, Summary, ThresholdState};

use super::metrics::{self, Scope};
use super::{TimeUnit, write_check};
use crate::layout::{Page, one_line};
use crate::style::Paint;

/// Writes it.
pub(super) fn write(page: &mut Page, summary: &Summary, plan: &Plan, time_unit: TimeUnit) {
    page.line("");
    group(page, &summary.root, 0);
    let style = page.style();
    let lead = |selector: &str| {
        let of_it = || summary.thresholds.iter().filter(|result| result.selector == selector);
        // Submetrics stand below their metric.
        let indent = if selector.contains('{') { 2 } else { 0 };
        let mark = match of_it().any(|result| matches!(result.state, ThresholdState::Failed(_))) {
            true => style.paint(Paint::Red, style.failed()),
            false if of_it().next().is_some() => style.paint(Paint::Green, style.passed()),
            false => " ".to_owned(),
        };
        format!("{}{mark} ", " ".repeat(3 + indent))
    };
    metrics::list(page, &summary.metrics, &Scope { summary, plan, time_unit }, lead);
    page.line("");
}

fn group(page: &mut Page, of: &Group, depth: usize) {
    let mut inner = Page::new(page.style());
    of.checks.iter().for_each(|check| write_check(&mut inner, check));
    for line in inner.finish().lines() {
        page.line(&format!("{}{line}", " ".repeat(1 + 2 * depth)));
    }
    if !of.checks.is_empty() {
        page.line("");
    }
    for inner in &of.groups {
        let (block, name) = (page.style().pick("█", "#"), one_line(&inner.name));
        page.line(&format!("{}{block} {name}", " ".repeat(5 + 2 * depth)));
        page.line("");
        group(page, inner, depth + 1);
    }
}
