//! A reference service as a child process: started for a stage of a story, ended with it.

use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, bail};
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, Command};

/// A running service of `plimsoll-lab`.
pub(crate) struct Service {
    child: Child,
    /// What it said when it was ready.
    pub(crate) ready: Ready,
}

/// The line with which `plimsoll-lab` says that it is ready.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Ready {
    /// Where it answers.
    pub(crate) url: String,
    /// The process that serves.
    pub(crate) pid: u32,
    /// The same, where it lives in a network name space of its own.
    pub(crate) service_pid: Option<u32>,
}

impl Service {
    /// Starts `plimsoll-lab` with these arguments and waits until it is ready.
    ///
    /// # Errors
    /// What it said on standard error if it ended before it was ready.
    pub(crate) async fn start(arguments: &[String]) -> anyhow::Result<Self> {
        let program = program();
        let mut command = Command::new(&program);
        command.args(arguments).arg("--with-parent").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A Ctrl-C at the terminal is ours to pass on, when the load is over.
        command.process_group(0).kill_on_drop(false);
        let mut child = command.spawn().with_context(|| {
            format!("cannot start {}: build it with `cargo build --release -p plimsoll-lab`", program.display())
        })?;
        let stdout = child.stdout.take().context("the service has no standard output")?;
        let mut lines = BufReader::new(stdout).lines();
        if let Some(line) = lines.next_line().await? {
            let ready = serde_json::from_str(&line)
                .with_context(|| format!("the service said `{line}` instead of being ready"))?;
            return Ok(Self { child, ready });
        }
        let mut said = String::new();
        if let Some(mut stderr) = child.stderr.take() {
            stderr.read_to_string(&mut said).await?;
        }
        child.wait().await?;
        bail!("{}", said.trim().strip_prefix("error: ").unwrap_or(said.trim()))
    }

    /// Asks it to stop and waits until it and its database are gone.
    pub(crate) async fn stop(mut self) {
        if let Some(pid) =
            self.child.id().and_then(|pid| i32::try_from(pid).ok()).and_then(rustix::process::Pid::from_raw)
        {
            // It may have ended by itself: then there is nobody to tell.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        let _ = self.child.wait().await;
    }
}

fn program() -> PathBuf {
    let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.join("plimsoll-lab")));
    beside.filter(|path| path.exists()).unwrap_or_else(|| PathBuf::from("plimsoll-lab"))
}
