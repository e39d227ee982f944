//! `plimsoll report`: renders a recorded run again, also one that was cut off before its end.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use analysis::search::Search;
use anyhow::Context;
use model::record::{Level, RunRecord};
use model::summary::Summary;
use model::unit::Moment;
use model::verdict::Verdict;

use super::write_result;
use crate::args;
use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Runs the command.
pub(crate) fn run(typed: &args::Report, mut output: Output) -> Result<Exit, Failure> {
    let path = typed.run.display().to_string();
    let file = File::open(&typed.run).with_context(|| format!("cannot open the record {path}"))?;
    let mut record = RunRecord::load(BufReader::new(file)).with_context(|| format!("cannot read the record {path}"))?;
    let is_search = record.header.as_ref().is_some_and(|header| header.command == "find");
    let is_whole = record.verdict.is_some() || (!is_search && record.summary.is_some());
    if !is_whole && record.windows.is_empty() {
        let sentence = format!("the record {path} was cut off before any load: there is nothing to render");
        return Err(Failure::new(Exit::Other, sentence));
    }
    let verdict = match record.verdict.take() {
        None if is_search => Some(of_cut_search(&record, &mut output)),
        verdict => verdict,
    };
    let Some(verdict) = verdict else {
        if typed.json.is_some() {
            return Err(Failure::config(format!("the record {path} is of `run`: it has no verdict to write as JSON")));
        }
        summary(&record, &mut output);
        return Ok(Exit::Ok);
    };
    if typed.json.as_deref() != Some(Path::new("-")) {
        let text = view::text::verdict(&verdict, output.style());
        output.result(&text);
    }
    if let Some(json) = &typed.json {
        write_result(json, &view::json::verdict(&verdict), &mut output)?;
    }
    Ok(Exit::Ok)
}

/// The verdict of a search that could not write it: what its finished steps say.
fn of_cut_search(record: &RunRecord, output: &mut Output) -> Verdict {
    let limits = record.plan.as_ref().and_then(|plan| plan.search);
    let search = Search::new(limits.map_or_else(Default::default, super::find::settings));
    let ended = ended(record);
    let mut verdict = analysis::verdict(record, &search, ended.since(Moment::START));
    let steps = match record.steps.len() {
        0 => "before its first step was finished: it says nothing about the capacity".to_owned(),
        1 => "before it had its answer: this is what its only finished step says".to_owned(),
        steps => format!("before it had its answer: this is what its {steps} finished steps say"),
    };
    let sentence = format!("the search was cut short after {:.0} s, {steps}", ended.seconds());
    output.say(Level::Warn, &sentence);
    verdict.caveats.insert(0, sentence);
    verdict
}

/// The summary of a run; of one that was cut off what its seconds add up to, and what limited it until then.
fn summary(record: &RunRecord, output: &mut Output) {
    let plan = record.plan.clone().unwrap_or_default();
    if let Some(summary) = &record.summary {
        let text = view::text::summary(summary, &plan, output.style());
        return output.result(&text);
    }
    output.say(
        Level::Warn,
        &format!(
            "the run was cut short after {:.0} s: checks, thresholds and metrics of its own are lost, the rest is what \
             its seconds add up to",
            ended(record).seconds()
        ),
    );
    let text = view::text::summary(&Summary::of_windows(&record.windows), &plan, output.style());
    output.result(&text);
    super::run::limit(record, output);
}

/// Until when the record reaches.
fn ended(record: &RunRecord) -> Moment {
    record.windows.last().map_or(Moment::START, |window| window.interval.to)
}
