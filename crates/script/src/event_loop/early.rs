//! Timers of the init code, in time that passes only from one timer to the next: nobody waits while users are made.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::user::Ticket;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Early {
    now: Duration,
    begun: u64,
    due: BTreeMap<(Duration, u64), Ticket>,
}

impl Early {
    /// How often timers may ring in one run of the init code.
    pub(super) const RINGS_MAX: u32 = 10_000;

    /// Begins one.
    pub(super) fn set(&mut self, ticket: Ticket, length: Duration) {
        self.begun += 1;
        self.due.insert((self.now.saturating_add(length), self.begun), ticket);
    }

    /// Forgets one.
    pub(super) fn cancel(&mut self, ticket: Ticket) {
        self.due.retain(|_, known| *known != ticket);
    }

    /// Takes the one that rings next.
    pub(super) fn take(&mut self) -> Option<Ticket> {
        let ((due, _), ticket) = self.due.pop_first()?;
        self.now = due;
        Some(ticket)
    }
}
