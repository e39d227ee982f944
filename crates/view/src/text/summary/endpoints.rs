//! What k6's summary does not say: requests by endpoint without any threshold, exceptions of the script, load that was
//! not offered, and what was too much to be told apart.

use std::cmp::Reverse;

use model::plan::{Plan, SummaryMode};
use model::summary::{Summary, Total};
use model::window::Requests;

use crate::layout::{Align, Cell, Page, Table, one_line};
use crate::number::{count, percent, share, time_ms};
use crate::style::Paint;

/// Endpoints that the compact summary shows.
const ENDPOINTS_SHOWN: usize = 10;

/// Writes all of it that there is something to say about.
pub(super) fn write(page: &mut Page, summary: &Summary, plan: &Plan) {
    endpoints(page, summary, plan.summary_mode == SummaryMode::Full);
    exceptions(page, summary);
    undelivered(page, summary);
    for limit in &summary.limits {
        page.hanging("    ! ", Paint::Yellow, limit);
    }
    if !summary.limits.is_empty() {
        page.line("");
    }
}

fn endpoints(page: &mut Page, summary: &Summary, is_full: bool) {
    if summary.endpoints.len() < 2 && !is_full || summary.endpoints.is_empty() {
        return;
    }
    let mut all: Vec<(&String, &Requests)> = summary.endpoints.iter().collect();
    all.sort_by_key(|(name, requests)| (Reverse(requests.finished), *name));
    let shown = if is_full { all.len() } else { all.len().min(ENDPOINTS_SHOWN) };
    heading(page, "ENDPOINTS");
    let mut columns = vec![Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right];
    let mut titles = vec!["name", "requests", "failed", "p50", "p95", "max"];
    if is_full {
        columns.push(Align::Left);
        titles.push("statuses");
    }
    let mut table = Table::new(4, columns);
    table.titles(&titles);
    for (name, requests) in all.iter().take(shown) {
        let mut row = row(name, requests);
        if is_full {
            row.push(statuses(requests).into());
        }
        table.row(row);
    }
    table.write(page);
    if all.len() > shown {
        let rest = all.len() - shown;
        page.line(&format!("    and {rest} more: --summary-mode=full shows all of them"));
    }
    page.line("");
}

fn row(name: &str, requests: &Requests) -> Vec<Cell> {
    let failed = share(requests.failed as f64, requests.finished as f64);
    let paint = if requests.failed > 0 { Paint::Red } else { Paint::Plain };
    let duration = &requests.duration;
    vec![
        one_line(name).into(),
        count(requests.finished).into(),
        Cell::painted(paint, percent(failed)),
        time_ms(duration.percentile_ms(50.0)).into(),
        time_ms(duration.percentile_ms(95.0)).into(),
        time_ms(duration.max_ms()).into(),
    ]
}

fn statuses(requests: &Requests) -> String {
    let mut all = requests.statuses.clone();
    all.sort_unstable();
    let one = |(status, number): &(u16, u64)| match status {
        0 => format!("none {}", count(*number)),
        status => format!("{status} {}", count(*number)),
    };
    all.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn exceptions(page: &mut Page, summary: &Summary) {
    if summary.exceptions.is_empty() {
        return;
    }
    heading(page, "EXCEPTIONS");
    let mut all: Vec<_> = summary.exceptions.iter().collect();
    all.sort_by_key(|(text, number)| (Reverse(**number), *text));
    let columns = all.iter().map(|(_, number)| count(**number).len()).max().unwrap_or(0);
    for (text, number) in all {
        page.hanging(&format!("    {:>columns$}  ", count(*number)), Paint::Red, text);
    }
    page.line("");
}

/// Iterations that were planned and never began.
fn undelivered(page: &mut Page, summary: &Summary) {
    let counter = |name: &str| match summary.metrics.get(name).map(|metric| &metric.total) {
        Some(Total::Counter(sum)) => *sum as u64,
        _ => 0,
    };
    let (dropped, done) = (counter("dropped_iterations"), counter("iterations"));
    if dropped == 0 {
        return;
    }
    let sentence = format!(
        "The planned load was not delivered: {} of {} iterations never began, since no user was free for them.",
        count(dropped),
        count(dropped + done),
    );
    page.hanging("    ! ", Paint::Yellow, &sentence);
    page.line("");
}

fn heading(page: &mut Page, text: &str) {
    let text = page.style().paint(Paint::Bold, text);
    page.line(&format!("    {text}"));
}
