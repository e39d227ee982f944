//! At most so many requests per second (`rps`), over all users of all workers: each takes the next free moment.

use std::sync::atomic::{AtomicU64, Ordering};

use model::unit::Moment;

/// See the module.
#[derive(Debug)]
pub(crate) struct Pace {
    interval_ns: u64,
    next: AtomicU64,
}

impl Pace {
    pub(crate) fn new(requests_per_s: u32) -> Self {
        Self { interval_ns: 1_000_000_000 / u64::from(requests_per_s.max(1)), next: AtomicU64::new(0) }
    }

    /// The moment at which a request that could be sent `now` may be. What was not used before is lost.
    pub(crate) fn take(&self, now: Moment) -> Moment {
        let later = |next: u64| Some(next.max(now.0).saturating_add(self.interval_ns));
        let before = self.next.fetch_update(Ordering::AcqRel, Ordering::Acquire, later);
        Moment(before.unwrap_or_default().max(now.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_spread_and_silence_is_not_made_up_for() {
        let pace = Pace::new(4);
        let take = |now_ms: u64| pace.take(Moment(now_ms * 1_000_000)).0 / 1_000_000;
        assert_eq!([take(0), take(0), take(100), take(100)], [0, 250, 500, 750]);
        assert_eq!([take(5000), take(5000), take(5600)], [5000, 5250, 5600]);
    }
}
