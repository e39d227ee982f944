//! The table of load levels that a search went through.

use model::verdict::{Gate, Judgement, Latency, Phase, Step};

use crate::layout::{Align, Cell, Page, Table};
use crate::number::{count, number, time_ms};
use crate::style::{Paint, Style};

/// Writes one row a step.
pub(super) fn write(page: &mut Page, steps: &[Step]) {
    if steps.is_empty() {
        return;
    }
    page.heading("Steps");
    let with_dropped = steps.iter().any(|step| step.dropped > 0);
    let mut titles = vec!["phase", "users", "req/s", "requests", "failed"];
    titles.extend(with_dropped.then_some("dropped"));
    titles.extend(LATENCY_TITLES);
    titles.extend(["gate", "kept"]);
    let mut columns = vec![Align::Right; titles.len()];
    columns[0] = Align::Left;
    for column in columns.iter_mut().rev().take(2) {
        *column = Align::Left;
    }
    let mut table = Table::new(2, columns);
    table.titles(&titles);
    for step in steps {
        table.row(cells(step, with_dropped, page.style()));
    }
    table.write(page);
}

/// Titles of [`latency`].
pub(super) const LATENCY_TITLES: [&str; 5] = ["p50", "p90", "p95", "p99", "max"];

/// Percentiles and the largest response time.
pub(super) fn latency(latency: &Latency) -> [Cell; 5] {
    [latency.p50, latency.p90, latency.p95, latency.p99, latency.max].map(|ms| time_ms(ms).into())
}

/// A count that is alarming unless it is zero.
pub(super) fn alarming(value: u64, text: String) -> Cell {
    Cell::painted(if value > 0 { Paint::Red } else { Paint::Plain }, text)
}

fn cells(step: &Step, with_dropped: bool, style: Style) -> Vec<Cell> {
    let mut cells = vec![
        phase(step.phase).into(),
        count(step.users).into(),
        number(step.rate_per_s).into(),
        count(step.requests).into(),
        alarming(step.failed, count(step.failed)),
    ];
    if with_dropped {
        cells.push(alarming(step.dropped, count(step.dropped)));
    }
    cells.extend(latency(&step.latency_ms));
    cells.push(match step.generator.gate {
        Gate::Green => Cell::painted(Paint::Green, "green"),
        Gate::Red => Cell::painted(Paint::Red, "red"),
    });
    cells.push(match step.promise {
        Judgement::Pass => Cell::painted(Paint::Green, style.passed()),
        Judgement::Fail => Cell::painted(Paint::Red, style.failed()),
        Judgement::Undecided => Cell::painted(Paint::Yellow, "?"),
    });
    cells
}

fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Baseline => "baseline",
        Phase::Probe => "probe",
        Phase::Trial => "trial",
        Phase::Confirm => "confirm",
        Phase::Over => "over",
        Phase::Return => "return",
    }
}
