//! A k6 script becomes a plan and virtual users that the engine can drive. This room opens no sockets and schedules
//! nothing: a script that wants a response or a pause asks the engine for it, and goes on when the answer comes.
//!
//! The way of a script: [`link`] makes function factories of its modules, [`load()`] runs its init code once and reads
//! its options, [`options`] makes a plan of them, and [`Loaded::factory`] makes users, many of which share one
//! JavaScript engine.

pub mod archive;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
pub mod link;
pub mod options;

mod event_loop;
mod execution;
mod host;
mod k6;
mod load;
mod native;
mod realm;
mod remote;
mod secret;
mod thrown;
mod user;

pub use host::Clock;
pub use load::{LoadError, LoadSettings, Loaded, load, survey};
pub use native::{Isolation, MEMORY_PER_USER_BYTES_DEFAULT, STACK_BYTES_DEFAULT, STACK_BYTES_MIN};
pub use remote::{Fetch, ModuleSettings, Network};
pub use secret::SecretSource;
pub use user::{Destinations, Handled, ScriptUsers};
