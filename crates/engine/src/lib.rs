//! Offers the planned load and measures each request honestly, including what it failed to offer. This room knows
//! neither JavaScript nor databases, never judges and never prints.

pub mod coding;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
pub mod meter;
pub mod progress;
pub mod run;
pub mod url_user;
pub mod user;

mod alarm;
mod clock;
mod collector;
mod conductor;
mod crew;
mod errand;
mod grpc;
mod headers;
mod net;
mod ongoing;
mod outlet;
mod schedule;
mod tally;
mod worker;

pub use errand::{Alone, alone};
pub use net::tls::check as check_tls;
pub use net::{Permit, goes_by_proxy};
pub use outlet::{Lost, SampleReceiver, SampleSender, sample_stream};
pub use run::{Control, EndReason, Ended, Event, Options, Running, StartError, Stop, start};
pub use url_user::url_users;
