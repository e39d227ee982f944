//! What stops the service, what comes next and what would move the line: the middle of a verdict, and all that `run`
//! says behind its summary.

use std::collections::BTreeMap;

use model::finding::{Basis, Bottleneck, Certainty, Lever, Next};

use crate::layout::{Align, Cell, Page, Table};
use crate::number::{bytes, number, percent, share, things, time_ms};
use crate::style::Paint;

/// Columns of the longest bar of the time budget.
const BAR_COLUMNS: f64 = 40.0;
/// The part of the time budget that stands last.
const UNEXPLAINED: &str = "unexplained";

/// The sentence, how sure it is, the evidence, and what it is not.
pub(super) fn bottleneck(page: &mut Page, title: &str, bottleneck: &Bottleneck) {
    page.heading(title);
    page.paragraph(2, Paint::Plain, &bottleneck.sentence);
    let subject = if bottleneck.subject.is_empty() { String::new() } else { format!(", {}", bottleneck.subject) };
    let (paint, certainty) = certainty(bottleneck.certainty);
    page.paragraph(2, paint, &format!("{}{subject}: {certainty}", bottleneck.id));
    if !bottleneck.evidence.is_empty() {
        page.heading("Evidence");
        let mut table = Table::new(2, [Align::Left, Align::Right, Align::Left, Align::Left]);
        for fact in &bottleneck.evidence {
            let (value, unit) = quantity(fact.value, &fact.unit);
            table.row([fact.says.as_str().into(), value.into(), unit.into(), Cell::painted(Paint::Dim, &fact.source)]);
        }
        table.write(page);
    }
    if !bottleneck.ruled_out.is_empty() {
        page.heading("Ruled out");
        let mut table = Table::new(2, [Align::Left, Align::Left]);
        for other in &bottleneck.ruled_out {
            table.row([Cell::painted(Paint::Dim, &other.id), other.because.as_str().into()]);
        }
        table.write(page);
    }
}

/// A measured value and its unit: shares become percentages, times and bytes take the unit that fits.
fn quantity(value: f64, unit: &str) -> (String, String) {
    let split = |text: String| {
        let (value, unit) = text.split_once(' ').unwrap_or((&text, ""));
        (value.to_owned(), unit.to_owned())
    };
    match unit {
        "share" => (percent(value), String::new()),
        "0/1" => (if value == 0.0 { "no" } else { "yes" }.to_owned(), String::new()),
        "bytes" if value >= 0.0 => split(bytes(value as u64)),
        "ms" if value < 60_000.0 => split(time_ms(value)),
        "s" if value < 60.0 => split(time_ms(value * 1e3)),
        _ => (number(value), unit.to_owned()),
    }
}

fn certainty(certainty: Certainty) -> (Paint, &'static str) {
    match certainty {
        Certainty::Proved => (Paint::Green, "proved, by a counter that moves for no other reason"),
        Certainty::Strong => (Paint::Green, "strong, several kinds of evidence agree"),
        Certainty::Suspected => (Paint::Yellow, "suspected, there is some evidence but not enough to be sure"),
        Certainty::Unknown => (Paint::Yellow, "unknown, nothing that was watched explains it"),
    }
}

/// What would stop the service once this is out of the way.
pub(super) fn next(page: &mut Page, next: &[Next]) {
    if next.is_empty() {
        return;
    }
    page.heading("Next");
    let mut table = Table::new(2, [Align::Left, Align::Left, Align::Left, Align::Right, Align::Left]);
    for wall in next {
        table.row([
            wall.id.as_str().into(),
            wall.subject.as_str().into(),
            "at".into(),
            number(wall.rate_per_s).into(),
            "requests/s".into(),
        ]);
    }
    table.write(page);
}

/// What would move the line, and what would not.
pub(super) fn levers(page: &mut Page, levers: &[Lever]) {
    let (help, idle): (Vec<&Lever>, Vec<&Lever>) = levers.iter().partition(|lever| lever.helps);
    if !help.is_empty() {
        page.heading("What would move the line");
        for lever in help {
            page.hanging("  ", Paint::Cyan, &promise(lever));
            page.paragraph(4, Paint::Plain, &lever.says);
        }
    }
    if !idle.is_empty() {
        page.heading("What will not help");
        let mut table = Table::new(2, [Align::Left, Align::Left]);
        for lever in idle {
            let change = format!("{} ({})", lever.change, basis(lever.basis));
            table.row([Cell::from(change), lever.says.as_str().into()]);
        }
        table.write(page);
    }
}

/// What a change brings: `pool 5 -> 20: 971 requests/s (930 to 1,010), 452 users, predicted`.
fn promise(lever: &Lever) -> String {
    let range = match (lever.rate_per_s_low, lever.rate_per_s_high) {
        (Some(low), Some(high)) => format!(" ({} to {})", number(low), number(high)),
        (Some(low), None) => format!(" (at least {})", number(low)),
        (None, Some(high)) => format!(" (at most {})", number(high)),
        (None, None) => String::new(),
    };
    let rate = lever.rate_per_s.map(|rate| format!("{} requests/s{range}", number(rate)));
    let users = lever.users.map(|users| things(users, "user"));
    let parts: Vec<String> = rate.into_iter().chain(users).chain([basis(lever.basis).to_owned()]).collect();
    format!("{}: {}", lever.change, parts.join(", "))
}

fn basis(basis: Basis) -> &'static str {
    match basis {
        Basis::Measured => "measured",
        Basis::Predicted => "predicted",
        Basis::Extrapolated => "extrapolated",
    }
}

/// Parts of the mean response time as bars, largest first, the unexplained rest last.
pub(super) fn time_budget(page: &mut Page, budget_ms: &BTreeMap<String, f64>) {
    let mut parts: Vec<(&str, f64)> = budget_ms
        .iter()
        .map(|(name, ms)| (name.as_str(), *ms))
        .filter(|(_, ms)| ms.is_finite() && *ms != 0.0)
        .collect();
    if parts.is_empty() {
        return;
    }
    parts.sort_by(|(left, left_ms), (right, right_ms)| {
        (*left == UNEXPLAINED).cmp(&(*right == UNEXPLAINED)).then(right_ms.total_cmp(left_ms))
    });
    let whole_ms: f64 = parts.iter().map(|(_, ms)| ms).sum();
    page.heading("Where the time goes");
    let mut table = Table::new(2, [Align::Left, Align::Right, Align::Right, Align::Left]);
    let block = page.style().pick("█", "#");
    for (name, ms) in parts {
        let part = share(ms, whole_ms);
        let bar = block.repeat((part * BAR_COLUMNS).round().clamp(0.0, BAR_COLUMNS) as usize);
        table.row([
            name.replace('_', " ").into(),
            time_ms(ms).into(),
            percent(part).into(),
            Cell::painted(Paint::Cyan, bar),
        ]);
    }
    table.row([
        Cell::painted(Paint::Dim, "mean response"),
        Cell::painted(Paint::Dim, time_ms(whole_ms)),
        "".into(),
        "".into(),
    ]);
    table.write(page);
}
