//! The laboratory: ordinary services with known bottlenecks, so that the rest of Plimsoll has something true to be
//! measured against. Must never see another room of this workspace – a shared line of code could make the judge and
//! the judged agree by accident – and must never touch a server, namespace or folder that it did not make itself.

pub mod args;
pub mod bench;
pub mod grpc;
pub mod httpbin;
pub mod laptop;
pub mod link;
pub mod postgres;
pub mod relay;

pub mod cache;
pub mod janitor;
pub mod metrics;
pub mod serve;
pub mod stop;
pub mod store;

mod clock;
pub mod duration;
mod os;
mod out;
pub mod rate;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use crate::args::{Command, Typed};
use crate::stop::Ending;

/// Runs the program with the given arguments, the program's name first, and says how the process should end:
/// 0 after a graceful stop, 1 for an error, 2 for a mistake on the command line, 128 + signal after a second signal.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    os::take_own_name();
    let typed = match Typed::try_parse_from(arguments) {
        Ok(typed) => typed,
        Err(error) => return out::usage(&error),
    };
    match dispatch(typed.command) {
        Ok(ending) => ending.exit_code(),
        Err(error) => {
            out::error(&error);
            ExitCode::FAILURE
        }
    }
}

fn dispatch(command: Command) -> anyhow::Result<Ending> {
    match command {
        Command::Laptop(arguments) => laptop::run(&arguments),
        Command::Relay(arguments) => relay::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Grpc(arguments) => grpc::run(&arguments),
        Command::Httpbin(arguments) => httpbin::run(&arguments),
        Command::Janitor => {
            janitor::watch(std::io::stdin().lock());
            Ok(Ending::Graceful)
        }
    }
}
