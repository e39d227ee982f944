//! The binary `plimsoll`: what is typed becomes a command, the command an exit code. No maths, no protocols.

mod args;
mod command;
mod exit;
mod machine;
mod modules;
mod output;
mod progress;
mod record_file;
mod secret;
mod service;
mod session;
mod signals;
mod target;

use std::process::ExitCode;

fn main() -> ExitCode {
    machine::raise_open_files();
    let outcome = match args::parse(std::env::args_os()) {
        Ok(args::Parsed::Command(command, output)) => command::run(*command, &output),
        Ok(args::Parsed::Print(text)) => output::print_help(&text),
        Err(failure) => Err(failure),
    };
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) => output::print_failure(&failure).into(),
    }
}
