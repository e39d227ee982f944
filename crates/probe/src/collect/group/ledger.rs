//! A sum over processes that come and go, which never falls. What a process used before it ended must stay in the sum:
//! if its parent waited for it the kernel adds it to the parent's figure for children, otherwise it is kept here.

use std::collections::HashMap;

/// What a process used itself, and what its children used that ended and were waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Use {
    pub(crate) own: f64,
    pub(crate) children: f64,
}

/// The sum.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    members: HashMap<u32, Use>,
    retained: f64,
    total: f64,
}

impl Ledger {
    /// Takes the figures of all living members and returns the sum.
    pub(crate) fn advance(&mut self, now: impl IntoIterator<Item = (u32, Use)>) -> f64 {
        let mut before = std::mem::take(&mut self.members);
        let (mut live, mut reaped) = (0.0, 0.0);
        for (pid, used) in now {
            let known = before.remove(&pid).unwrap_or_default();
            reaped += (used.children - known.children).max(0.0);
            live += used.own + used.children;
            self.members.insert(pid, used);
        }
        let gone: f64 = before.values().map(|used| used.own + used.children).sum();
        self.retained += (gone - reaped).max(0.0);
        self.total = self.total.max(live + self.retained);
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(own: f64, children: f64) -> Use {
        Use { own, children }
    }

    #[test]
    fn a_child_that_was_waited_for_is_counted_once() {
        let mut ledger = Ledger::default();
        assert_eq!(ledger.advance([(1, used(10.0, 0.0)), (2, used(5.0, 0.0))]), 15.0);
        // The child used another second before it ended; its parent has all six.
        assert_eq!(ledger.advance([(1, used(10.0, 6.0))]), 16.0);
    }

    #[test]
    fn a_child_that_nobody_waited_for_stays_in_the_sum() {
        let mut ledger = Ledger::default();
        ledger.advance([(1, used(10.0, 0.0)), (2, used(5.0, 0.0))]);
        assert_eq!(ledger.advance([(1, used(11.0, 0.0))]), 16.0);
        assert_eq!(ledger.advance([(1, used(12.0, 0.0))]), 17.0);
    }

    #[test]
    fn children_that_lived_between_two_looks_count() {
        let mut ledger = Ledger::default();
        ledger.advance([(1, used(1.0, 0.0))]);
        assert_eq!(ledger.advance([(1, used(1.0, 4.0))]), 5.0);
    }

    #[test]
    fn the_sum_survives_the_end_of_everybody_and_goes_on_with_the_next() {
        let mut ledger = Ledger::default();
        ledger.advance([(1, used(7.0, 1.0))]);
        assert_eq!(ledger.advance([]), 8.0);
        assert_eq!(ledger.advance([(9, used(0.5, 0.0))]), 8.5);
    }
}
