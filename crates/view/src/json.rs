//! The same answers for machines: the documents of the contract, and k6's `--summary-export`.

mod data;
mod export;

pub use data::{Screen, summary_data};
pub use export::summary_export;

use model::lab::LabReport;
use model::verdict::Verdict;
use serde::Serialize;

/// The verdict as the contract has it, `plimsoll.verdict/1`. Ends with a line end.
pub fn verdict(verdict: &Verdict) -> String {
    pretty(verdict)
}

/// The lab's answer as the contract has it, `plimsoll.lab/1`. Ends with a line end.
pub fn lab(report: &LabReport) -> String {
    pretty(report)
}

fn pretty(document: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(document).expect("text keys and plain values always have a JSON form");
    text.push('\n');
    text
}
