//! The only file of the lab that prints: answers for programs on standard output, one-line logs on standard error.
//! Must never panic when the reader has gone away, and must never print more than one line per event.

use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;

/// Prints one JSON document as one line and flushes, so that the reader of a pipe sees it at once.
pub(crate) fn json(document: &impl Serialize) -> anyhow::Result<()> {
    let line = serde_json::to_string(document)?;
    lines(&line).map_err(|cause| anyhow::anyhow!("could not write to standard output: {cause}"))
}

/// Prints text on standard output, followed by a line end.
pub(crate) fn lines(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{text}")?;
    stdout.flush()
}

/// One structured log line: `level=warn event=… key="value"`.
pub(crate) fn warn(event: &str, fields: &[(&str, &dyn std::fmt::Display)]) {
    log("warn", event, fields);
}

/// As [`warn`], for what is worth knowing but not wrong; only called when `--verbose` was asked for.
pub(crate) fn info(event: &str, fields: &[(&str, &dyn std::fmt::Display)]) {
    log("info", event, fields);
}

fn log(level: &str, event: &str, fields: &[(&str, &dyn std::fmt::Display)]) {
    let mut line = format!("level={level} event={event}");
    for (key, value) in fields {
        line.push_str(&format!(" {key}={:?}", value.to_string()));
    }
    // A log line that nobody can read any more is no reason to fail.
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// An error that ends the program, with its causes.
pub(crate) fn error(error: &anyhow::Error) {
    let _ = writeln!(io::stderr().lock(), "plimsoll-lab: {error:#}");
}

/// What clap has to say: help and version go to standard output and are no error.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS }
}
