//! What every output does with samples.

use std::sync::Arc;

use model::plan::Plan;
use model::sample::Sample;
use model::unit::Moment;

/// An output at work, on its own thread.
pub(crate) trait Output: Send {
    /// Takes samples.
    fn add(&mut self, samples: &[Sample]);

    /// A second of the run is over: what is due can be sent.
    fn tick(&mut self, now: Moment);

    /// The run is over: sends or writes what is left, and says what went wrong.
    fn finish(self: Box<Self>) -> Ending;
}

/// What an output says at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ending {
    /// What went wrong, if anything did.
    pub(crate) trouble: Option<String>,
    /// Whether a file lacks what belongs into it.
    pub(crate) is_incomplete: bool,
}

/// What outputs need to know of the run.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) plan: Arc<Plan>,
    /// When the run began, in nanoseconds since 1970.
    pub(crate) began_ns: u64,
    /// Says something while the run goes on.
    pub(crate) say: Arc<dyn Fn(String) + Send + Sync>,
}

impl Context {
    /// A moment in nanoseconds since 1970.
    pub(crate) fn unix_ns(&self, at: Moment) -> u64 {
        self.began_ns + at.0
    }
}
