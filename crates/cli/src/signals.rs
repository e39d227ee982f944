//! The signals that end a run in order: Ctrl-C, a polite kill, a closed terminal. Counts them on a thread of its own;
//! what the first and the second mean is the session's business. The third ends the program at once, whatever the
//! others are busy with.

use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::exit::Exit;

/// The signal that ends the program at once.
const LAST: u32 = 3;

/// Signals that are caught from now on.
pub(crate) struct Signals {
    caught: UnboundedReceiver<()>,
    count: u32,
}

impl Signals {
    /// Catches them instead of being ended by them.
    ///
    /// # Errors
    /// If the system does not let us.
    pub(crate) fn catch() -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.context("cannot listen for signals")?;
        let mut watch = {
            let _inside = runtime.enter();
            Watch::begin()?
        };
        let (told, caught) = unbounded_channel();
        let listen = async move {
            while watch.next().await < LAST {
                // Whoever listened may be gone; the last signal still counts.
                let _ = told.send(());
            }
            crate::machine::end_at_once(Exit::Stopped);
        };
        let thread = std::thread::Builder::new().name("signals".to_owned());
        thread.spawn(move || runtime.block_on(listen)).context("cannot start a thread for signals")?;
        Ok(Self { caught, count: 0 })
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) {
        if self.caught.recv().await.is_none() {
            return std::future::pending().await;
        }
        self.count += 1;
    }

    /// How many came.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }
}

/// The listeners of the system.
struct Watch {
    interrupt: Signal,
    terminate: Signal,
    /// `None` if a closed terminal is to be survived, as under `nohup`.
    hangup: Option<Signal>,
    count: u32,
}

impl Watch {
    fn begin() -> anyhow::Result<Self> {
        let hangup = if crate::machine::ignores_hangup() { None } else { Some(SignalKind::hangup()) };
        Ok(Self {
            interrupt: signal(SignalKind::interrupt()).context("cannot catch SIGINT")?,
            terminate: signal(SignalKind::terminate()).context("cannot catch SIGTERM")?,
            hangup: hangup.map(signal).transpose().context("cannot catch SIGHUP")?,
            count: 0,
        })
    }

    /// Waits for the next one; how many came. Of closed terminals only the first counts: kernel and shell both tell of it.
    async fn next(&mut self) -> u32 {
        tokio::select! {
            biased;
            Some(()) = self.interrupt.recv() => {}
            Some(()) = self.terminate.recv() => {}
            Some(()) = told(&mut self.hangup), if self.count == 0 => {}
            else => std::future::pending().await,
        }
        self.count += 1;
        self.count
    }
}

async fn told(signal: &mut Option<Signal>) -> Option<()> {
    match signal {
        Some(signal) => signal.recv().await,
        None => std::future::pending().await,
    }
}
