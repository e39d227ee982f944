//! Timers of one user: they ring in the order in which they are due, and of those due at one moment the first begun
//! rings first. Reads no clock.

use std::collections::{BTreeMap, HashMap};

use model::unit::Moment;

use crate::user::Ticket;

/// When a timer rings, and its place among those that ring then.
type Due = (Moment, u64);

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    begun: u64,
    due: BTreeMap<Due, Ticket>,
    of: HashMap<Ticket, Due>,
}

impl Timers {
    /// Begins one that rings at `moment`; one of the same ticket is forgotten.
    pub(crate) fn set(&mut self, ticket: Ticket, moment: Moment) {
        self.cancel(ticket);
        self.begun += 1;
        self.due.insert((moment, self.begun), ticket);
        self.of.insert(ticket, (moment, self.begun));
    }

    /// Forgets one; does nothing if there is none.
    pub(crate) fn cancel(&mut self, ticket: Ticket) {
        if let Some(due) = self.of.remove(&ticket) {
            self.due.remove(&due);
        }
    }

    /// When the next one rings.
    pub(crate) fn next_due(&self) -> Option<Moment> {
        self.due.first_key_value().map(|((moment, _), _)| *moment)
    }

    /// Takes the next one.
    pub(crate) fn take(&mut self) -> Option<Ticket> {
        let (_, ticket) = self.due.pop_first()?;
        self.of.remove(&ticket);
        Some(ticket)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_ring_by_their_moment_and_then_by_their_age() {
        let mut timers = Timers::default();
        for (ticket, moment) in [(1, 30), (2, 10), (3, 10), (4, 0), (5, 10)] {
            timers.set(Ticket(ticket), Moment(moment));
        }
        timers.cancel(Ticket(3));
        timers.cancel(Ticket(99));
        // Begun anew: now the youngest.
        timers.set(Ticket(2), Moment(10));
        assert_eq!(timers.next_due(), Some(Moment(0)));
        let order: Vec<_> = std::iter::from_fn(|| timers.take()).map(|ticket| ticket.0).collect();
        assert_eq!(order, [4, 5, 2, 1]);
        assert_eq!((timers.next_due(), timers.of.len()), (None, 0));
    }
}
