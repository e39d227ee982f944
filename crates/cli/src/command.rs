//! The commands: one file each.

mod check;
mod find;
mod lab;
mod report;
mod run;

use std::future::Future;

use anyhow::Context;

use crate::args;
use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Runs a command.
pub(crate) fn run(command: args::Command, flags: &args::Output) -> Result<Exit, Failure> {
    let output = Output::new(flags);
    match command {
        args::Command::Find(typed) => on_runtime(find::run(*typed, output)),
        args::Command::Run(typed) => on_runtime(run::run(*typed, output)),
        args::Command::Check(typed) => on_runtime(check::run(*typed, output)),
        args::Command::Lab(typed) => on_runtime(lab::run(typed, output)),
        args::Command::Report(typed) => report::run(&typed, output),
        args::Command::Watch(_) => missing("watch"),
        args::Command::Compare(_) => missing("compare"),
        args::Command::Doctor(_) => missing("doctor"),
        args::Command::Agent(_) => missing("agent"),
    }
}

fn missing(command: &str) -> Result<Exit, Failure> {
    Err(Failure::config(format!("`plimsoll {command}` is not supported yet")))
}

/// The engine has threads of its own: this one only waits for events.
fn on_runtime(work: impl Future<Output = Result<Exit, Failure>>) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("cannot start the event loop")?.block_on(work)
}

/// What flags ask for that is not supported yet: one sentence each.
fn unsupported(watching: &args::Watching, files: &args::Files) -> Vec<String> {
    let mut mistakes = Vec::new();
    if watching.fleet.is_some() || watching.agents.is_some() {
        mistakes.push("--fleet is not supported yet: the load comes from this machine".to_owned());
    }
    if files.report.is_some() {
        mistakes
            .push("--report is not supported yet: use --json FILE, or --record FILE and `plimsoll report`".to_owned());
    }
    mistakes
}

/// Reads what `--watch` was given.
fn watch_specs(texts: &[String], mistakes: &mut Vec<String>) -> Vec<probe::WatchSpec> {
    let mut specs = Vec::new();
    for text in texts {
        match text.parse() {
            Ok(spec) => specs.push(spec),
            Err(error) => mistakes.push(format!("--watch: {error}")),
        }
    }
    specs
}

/// Reads `VAR=VALUE`.
fn pairs(flag: &str, texts: &[String], mistakes: &mut Vec<String>) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for text in texts {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => all.push((name.to_owned(), value.to_owned())),
            // As in k6, a variable without a value is taken from the environment.
            None if flag == "--env" && !text.is_empty() => {
                all.extend(std::env::var(text).ok().map(|value| (text.clone(), value)));
            }
            _ => mistakes.push(format!("{flag}: `{text}` is not of the form NAME=VALUE")),
        }
    }
    all
}

/// All mistakes of a command line at once.
fn all_or_nothing(mistakes: &[String]) -> Result<(), Failure> {
    if mistakes.is_empty() { Ok(()) } else { Err(Failure::config(mistakes.join("\n       "))) }
}

/// Whether a result can be written to this file later: better known before a run than behind it. Leaves nothing behind.
///
/// # Errors
/// Why not.
fn can_be_written(path: &std::path::Path) -> Result<(), Failure> {
    let is_new = !path.exists();
    // A pipe would show its reader an end that is none.
    if path == std::path::Path::new("-") || !(is_new || path.is_file() || path.is_dir()) {
        return Ok(());
    }
    std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .with_context(|| format!("cannot write {}", path.display()))?;
    if is_new {
        // Left there it would only be empty.
        let _ = std::fs::remove_file(path);
    }
    Ok(())
}

/// Writes a result to a file, or to standard output if it is `-`.
fn write_result(path: &std::path::Path, text: &str, output: &mut Output) -> Result<(), Failure> {
    if path == std::path::Path::new("-") {
        output.result(text);
        return Ok(());
    }
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(())
}
