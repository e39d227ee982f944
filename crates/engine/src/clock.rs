//! The one place of this room that reads a clock. Everything else is told a [`Moment`], so that a test can let an
//! hour pass in a millisecond.

use std::time::SystemTime;

use model::unit::Moment;
use tokio::time::Instant;

/// The clock of a run, counting from its beginning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    beginning: Instant,
}

impl Clock {
    pub(crate) fn new(beginning: std::time::Instant) -> Self {
        Self { beginning: Instant::from_std(beginning) }
    }

    pub(crate) fn now(self) -> Moment {
        Moment::after(Instant::now().saturating_duration_since(self.beginning))
    }

    /// The runtime's name for `moment`; what lies too far ahead for it comes out as thirty years ahead.
    pub(crate) fn instant(self, moment: Moment) -> Instant {
        const FAR: std::time::Duration = std::time::Duration::from_secs(30 * 365 * 86_400);
        self.beginning + moment.since(Moment::START).min(FAR)
    }

    /// Seconds since 1970: the lives of cookies are told by the calendar.
    #[expect(clippy::disallowed_methods, reason = "this is the file that may read clocks")]
    pub(crate) fn calendar_seconds() -> u64 {
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
    }
}
