//! The binary `plimsoll-lab`: hands its arguments to the library and returns its exit code. Must never hold logic.

use std::process::ExitCode;

fn main() -> ExitCode {
    lab::run(std::env::args_os())
}
