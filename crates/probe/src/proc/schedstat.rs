//! `/proc/PID/task/TID/schedstat`: what one thread got from the scheduler, in nanoseconds. Never reads the file itself.

use super::{number, words};

/// What a thread got since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Schedule {
    /// Time on a core.
    pub(crate) run_ns: u64,
    /// Time ready, waiting for a core; time held back by a quota included.
    pub(crate) wait_ns: u64,
    /// Times it was given a core.
    pub(crate) slices: u64,
}

/// Reads a `schedstat` file.
pub(crate) fn parse(bytes: &[u8]) -> Option<Schedule> {
    let mut fields = words(bytes).map(number);
    Some(Schedule { run_ns: fields.next()??, wait_ns: fields.next()??, slices: fields.next()?? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_numbers_make_a_schedule() {
        assert_eq!(parse(b"365629 101302 2\n"), Some(Schedule { run_ns: 365_629, wait_ns: 101_302, slices: 2 }));
        assert_eq!(parse(b"365629 101302\n"), None);
    }
}
