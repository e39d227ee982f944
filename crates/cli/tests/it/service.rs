//! A reference service for a test: started on a free port, ended with the test.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A running service of `plimsoll-lab`.
#[derive(Debug)]
pub(crate) struct Service {
    child: Child,
    /// All that its line of readiness says.
    pub(crate) ready: serde_json::Value,
    /// Where it answers.
    pub(crate) url: String,
}

/// The binary under test.
pub(crate) fn plimsoll() -> assert_cmd::Command {
    let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_plimsoll"));
    command.env_remove("NO_COLOR").env("LC_ALL", "C.UTF-8");
    command
}

/// The binary beside it.
pub(crate) fn lab() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_plimsoll")).with_file_name("plimsoll-lab")
}

impl Service {
    /// Starts `plimsoll-lab` with these words.
    pub(crate) fn start(words: &str) -> Self {
        let mut command = Command::new(lab());
        command.args(words.split_whitespace()).arg("--with-parent").stdout(Stdio::piped()).stdin(Stdio::null());
        let mut child = command.spawn().expect("plimsoll-lab is built beside plimsoll");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: serde_json::Value =
            serde_json::from_str(&line).unwrap_or_else(|_| panic!("`{line}` is not the ready line"));
        Self { child, url: ready["url"].as_str().unwrap().to_owned(), ready }
    }

    /// Kills it as the kernel would.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.child.wait();
    }
}
