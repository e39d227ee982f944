//! `plimsoll report`: renders a recorded run again.

use std::fs::File;
use std::io::BufReader;

use anyhow::Context;
use model::record::RunRecord;

use super::write_result;
use crate::args;
use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Runs the command.
pub(crate) fn run(typed: &args::Report, mut output: Output) -> Result<Exit, Failure> {
    let path = typed.run.display();
    let file = File::open(&typed.run).with_context(|| format!("cannot open the record {path}"))?;
    let record = RunRecord::load(BufReader::new(file)).with_context(|| format!("cannot read the record {path}"))?;
    let (Some(verdict), _) = (&record.verdict, ()) else {
        let Some((summary, plan)) = record.summary.as_ref().zip(record.plan.as_ref()) else {
            let sentence =
                format!("the record {path} holds neither a verdict nor a summary: the run was cut off before its end");
            return Err(Failure::new(Exit::Other, sentence));
        };
        if typed.json.is_some() {
            return Err(Failure::config(format!("the record {path} is of `run`: it has no verdict to write as JSON")));
        }
        let text = view::text::summary(summary, plan, output.style());
        output.result(&text);
        return Ok(Exit::Ok);
    };
    if typed.json.as_deref() != Some(std::path::Path::new("-")) {
        let text = view::text::verdict(verdict, output.style());
        output.result(&text);
    }
    if let Some(json) = &typed.json {
        write_result(json, &view::json::verdict(verdict), &mut output)?;
    }
    Ok(Exit::Ok)
}
