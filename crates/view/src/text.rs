//! Texts for people: the answer of `find`, what limited a `run`, the lab's tables, k6's end-of-test summary. They end
//! with a line end, and no line is longer than 100 columns, except the lines of a Trend in the summary: people grep
//! for them, so they stay whole, as in k6.

mod answer;
mod diagnosis;
mod lab;
mod steps;
mod summary;
mod unit;

pub use lab::report as lab;
pub use summary::summary;

use model::finding::Diagnosis;
use model::verdict::Verdict;

use crate::layout::Page;
use crate::style::{Paint, Style};

/// The answer of `find`: how many users, what stops it, what would move the line, and what was measured.
pub fn verdict(verdict: &Verdict, style: Style) -> String {
    let mut page = Page::new(style);
    answer::write(&mut page, verdict);
    diagnosis::bottleneck(&mut page, "What stops it", &verdict.bottleneck);
    diagnosis::next(&mut page, &verdict.next);
    diagnosis::levers(&mut page, &verdict.levers);
    diagnosis::time_budget(&mut page, &verdict.time_budget_ms);
    steps::write(&mut page, &verdict.steps);
    caveats(&mut page, &verdict.caveats);
    page.finish()
}

/// What limited a run, to be printed behind its summary.
pub fn limit(diagnosis: &Diagnosis, style: Style) -> String {
    let mut page = Page::new(style);
    diagnosis::bottleneck(&mut page, "What limited the run", &diagnosis.bottleneck);
    diagnosis::next(&mut page, &diagnosis.next);
    diagnosis::levers(&mut page, &diagnosis.levers);
    diagnosis::time_budget(&mut page, &diagnosis.time_budget_ms);
    caveats(&mut page, &diagnosis.caveats);
    page.finish()
}

fn caveats(page: &mut Page, caveats: &[String]) {
    if caveats.is_empty() {
        return;
    }
    page.heading("To know before trusting this");
    for caveat in caveats {
        page.hanging("  - ", Paint::Plain, caveat);
    }
}
