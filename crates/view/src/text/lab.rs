//! The lab's answer: the story's table for this machine, stage by stage.

use model::lab::{LabReport, LabRow};
use model::record::Machine;
use model::verdict::Verdict;

use super::answer;
use super::steps::{LATENCY_TITLES, alarming, latency};
use crate::layout::{Align, Cell, Page, Table};
use crate::number::{bytes, count, number, percent, share, things};
use crate::style::{Paint, Style};

/// All stages: the table by users, the knee, the answer under the promise and why.
pub fn report(report: &LabReport, style: Style) -> String {
    let mut page = Page::new(style);
    let title = format!("The {} story on this machine: {}", report.story, machine(&report.machine));
    page.paragraph(0, Paint::Bold, &title);
    let mut verdicts = report.verdicts.iter();
    for stage in stages(&report.rows) {
        page.heading(&title_of(stage));
        let rows: Vec<&LabRow> = report.rows.iter().filter(|row| row.stage == stage).collect();
        if let Some(reason) = rows.iter().find_map(|row| row.skipped.as_ref()) {
            page.paragraph(2, Paint::Yellow, &format!("skipped: {reason}"));
            continue;
        }
        table(&mut page, &rows);
        let verdict = verdicts.next();
        if let Some(verdict) = verdict {
            let beyond = rows.iter().any(|row| row.users > verdict.peak.users);
            conclusions(&mut page, verdict, beyond);
        }
        for (_, sentence) in report.because.iter().filter(|(of, _)| of == stage) {
            page.hanging("  Why: ", Paint::Plain, sentence);
        }
        for caveat in verdict.iter().flat_map(|verdict| &verdict.caveats) {
            page.hanging("  Note: ", Paint::Dim, caveat);
        }
    }
    page.finish()
}

/// Stages in the order of the story.
fn stages(rows: &[LabRow]) -> Vec<&str> {
    let mut stages: Vec<&str> = Vec::new();
    for row in rows {
        if !stages.contains(&row.stage.as_str()) {
            stages.push(&row.stage);
        }
    }
    stages
}

fn title_of(stage: &str) -> String {
    let meaning = match stage {
        "age-local" => "compute only, load from this machine",
        "uuid-local" => "with the database, load from this machine",
        "uuid-remote" => "with the database, load over an emulated Wi-Fi link",
        _ => return stage.to_owned(),
    };
    format!("{stage}: {meaning}")
}

fn machine(machine: &Machine) -> String {
    let memory = format!("{} of memory", bytes(machine.memory_bytes));
    [machine.cpu.clone(), things(machine.cores.into(), "core"), memory, machine.kernel.clone()]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(", ")
}

fn table(page: &mut Page, rows: &[&LabRow]) {
    let mut titles = vec!["users", "requests/s", "requests"];
    titles.extend(LATENCY_TITLES);
    titles.extend(["failures", "bottleneck"]);
    let mut columns = vec![Align::Right; titles.len()];
    columns[titles.len() - 1] = Align::Left;
    let mut table = Table::new(2, columns);
    table.titles(&titles);
    for row in rows {
        let mut cells: Vec<Cell> =
            vec![count(row.users).into(), number(row.rate_per_s).into(), count(row.requests).into()];
        cells.extend(latency(&row.latency_ms));
        cells.push(alarming(row.failed, failures(row)));
        cells.push(match row.bottleneck.as_deref() {
            None | Some("pattern.none") => Cell::painted(Paint::Dim, "none yet"),
            Some(id) => Cell::painted(Paint::Yellow, id),
        });
        table.row(cells);
    }
    table.write(page);
}

fn failures(row: &LabRow) -> String {
    if row.failed == 0 {
        return "0".to_owned();
    }
    format!("{} ({})", count(row.failed), percent(share(row.failed as f64, row.requests as f64)))
}

/// The knee and the answer; `beyond` says whether a row has more users than the best one.
fn conclusions(page: &mut Page, verdict: &Verdict, beyond: bool) {
    if verdict.peak.rate_per_s > 0.0 {
        let (rate, users) = (number(verdict.peak.rate_per_s), things(verdict.peak.users, "user"));
        let meaning = if beyond { "more users only wait longer" } else { "nothing beyond that was tried" };
        page.hanging("  Knee: ", Paint::Plain, &format!("{rate} requests/s at {users}; {meaning}"));
    }
    page.hanging("  Answer: ", Paint::Green, &answer::sentence(verdict));
}
