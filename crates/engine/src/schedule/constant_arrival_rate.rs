//! `constant-arrival-rate`: iterations begin at a fixed rate.

use std::time::Duration;

/// When iterations begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    pub(super) per_second: f64,
    pub(super) duration: Duration,
}

impl Rate {
    /// When iteration `index` begins, counted from the beginning of the scenario; `None` behind its end.
    pub(super) fn start(self, index: u64) -> Option<Duration> {
        let start = Duration::try_from_secs_f64(index as f64 / self.per_second).ok()?;
        (start < self.duration).then_some(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_are_evenly_spaced_and_end_with_the_duration() {
        let rate = Rate { per_second: 4.0, duration: Duration::from_secs(2) };
        assert_eq!(rate.start(0), Some(Duration::ZERO));
        assert_eq!(rate.start(7), Some(Duration::from_millis(1750)));
        assert_eq!(rate.start(8), None);
    }
}
