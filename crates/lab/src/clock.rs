//! The only file of the lab that reads a clock. Must never be asked for anything but "now".

use std::time::Instant;

/// The present moment of the monotonic clock.
#[expect(clippy::disallowed_methods, reason = "the one place in the lab where time is read")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Today's date in UTC, so that the answer does not depend on the machine's time zone.
pub(crate) fn today() -> jiff::civil::Date {
    jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date()
}
