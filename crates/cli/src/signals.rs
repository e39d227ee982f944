//! The signals that end a run in order: Ctrl-C, a polite kill, a closed terminal. Only counts them; what the first and
//! the second mean is the session's business.

use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Signals that are caught from now on.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    /// `None` if a closed terminal is to be survived, as under `nohup`.
    hangup: Option<Signal>,
    count: u32,
}

impl Signals {
    /// Catches them instead of being ended by them.
    ///
    /// # Errors
    /// If the system does not let us.
    pub(crate) fn catch() -> anyhow::Result<Self> {
        let hangup = if crate::machine::ignores_hangup() { None } else { Some(SignalKind::hangup()) };
        Ok(Self {
            interrupt: signal(SignalKind::interrupt()).context("cannot catch SIGINT")?,
            terminate: signal(SignalKind::terminate()).context("cannot catch SIGTERM")?,
            hangup: hangup.map(signal).transpose().context("cannot catch SIGHUP")?,
            count: 0,
        })
    }

    /// Waits for the next one. Of closed terminals only the first counts: kernel and shell both tell of it.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            biased;
            Some(()) = self.interrupt.recv() => {}
            Some(()) = self.terminate.recv() => {}
            Some(()) = told(&mut self.hangup), if self.count == 0 => {}
            else => std::future::pending().await,
        }
        self.count += 1;
    }

    /// How many came.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }
}

async fn told(signal: &mut Option<Signal>) -> Option<()> {
    match signal {
        Some(signal) => signal.recv().await,
        None => std::future::pending().await,
    }
}
