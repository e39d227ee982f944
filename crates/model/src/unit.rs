//! Units that cross the border between rooms. Nothing here knows what time it is.

use std::ops::{Add, Sub};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A moment of a run: nanoseconds since the run began. `cli` hands engine and probe the same beginning, so that
/// samples and series can be laid over each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Moment(pub u64);

impl Moment {
    /// The beginning of the run.
    pub const START: Self = Self(0);

    /// The moment `elapsed` after the beginning; later than 584 years saturates.
    pub fn after(elapsed: Duration) -> Self {
        Self(u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX))
    }

    /// Seconds since the run began.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Time from `earlier` to `self`; zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Moment {
    type Output = Self;
    fn add(self, length: Duration) -> Self {
        Self(self.0.saturating_add(Self::after(length).0))
    }
}

impl Sub<Duration> for Moment {
    type Output = Self;
    fn sub(self, length: Duration) -> Self {
        Self(self.0.saturating_sub(Self::after(length).0))
    }
}

/// A half-open interval of a run: `[from, to)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interval {
    /// First moment inside.
    pub from: Moment,
    /// First moment behind.
    pub to: Moment,
}

impl Interval {
    /// The interval from `from` up to `to`.
    pub fn new(from: Moment, to: Moment) -> Self {
        Self { from, to }
    }

    /// Length in seconds.
    pub fn seconds(self) -> f64 {
        self.to.since(self.from).as_secs_f64()
    }

    /// Whether `at` lies inside.
    pub fn contains(self, at: Moment) -> bool {
        self.from <= at && at < self.to
    }
}
