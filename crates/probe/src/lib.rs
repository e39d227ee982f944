//! Watches the machine during a run – processes, control groups, kernel, sockets, PostgreSQL, `/metrics` – and yields
//! readings. This room never knows the engine and never judges: it says what it saw, when, and what it could not see.
//!
//! [`discover()`] looks around once and is quick; [`Discovered::watch`] then reads everything once a second, and the few
//! figures that change within a second up to twenty times, on a thread of its own.
#![forbid(unsafe_code)]

mod collect;
mod discover;
mod files;
mod metrics;
mod postgres;
mod proc;
mod report;
mod scene;
mod socket;
mod spec;
mod watch;

use std::net::SocketAddr;

pub use discover::{Discovered, Settings, discover};
pub use report::Report;
pub use spec::{SpecError, WatchSpec, What};
pub use watch::Watching;

/// Where the load goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The address that the target's name resolved to.
    pub address: SocketAddr,
}
