//! How the lab's processes end: the first SIGTERM or SIGINT asks, the second one insists.
//! Must never end the process itself; only `main` does.

use std::process::ExitCode;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// How a process ended, and so its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Everything in flight was answered, or the bound for that had passed.
    Graceful,
    /// A second signal came while the first was being obeyed.
    Insisted(StopSignal),
}

/// The signals that end a lab process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopSignal {
    /// Ctrl-C.
    Interrupt,
    /// The polite `kill`.
    Terminate,
}

impl Ending {
    /// 0 for a graceful end, 128 + signal number otherwise, as shells have it.
    pub fn exit_code(self) -> ExitCode {
        match self {
            Ending::Graceful => ExitCode::SUCCESS,
            Ending::Insisted(StopSignal::Interrupt) => ExitCode::from(130),
            Ending::Insisted(StopSignal::Terminate) => ExitCode::from(143),
        }
    }
}

/// The stream of stop signals of this process.
#[derive(Debug)]
pub struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl StopSignals {
    /// Takes the two signals over from the kernel's default; needs a running tokio runtime.
    pub fn listen() -> anyhow::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Waits for the next signal.
    pub async fn next(&mut self) -> StopSignal {
        tokio::select! {
            _ = self.interrupt.recv() => StopSignal::Interrupt,
            _ = self.terminate.recv() => StopSignal::Terminate,
        }
    }
}
