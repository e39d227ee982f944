//! The number of users is set from outside while the scenario runs. A jump up is spread over a second; a user that is
//! no longer wanted, or was relieved since it is stuck, finishes its iteration and closes its connections.

use std::cell::{Cell, OnceCell};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::{Rc, Weak};
use std::time::Duration;

use model::unit::Moment;
use tokio::task::JoinSet;

use super::Part;
use crate::alarm::{Leash, NEVER};

const SPREAD: Duration = Duration::from_secs(1);

/// When a user that is new in slot `slot` begins after a change from `before` to `wanted` users. One that takes the
/// place of another does so at once.
fn begin_after(slot: u32, before: u32, wanted: u32) -> Duration {
    match slot.checked_sub(before) {
        Some(index) => SPREAD.mul_f64(f64::from(index) / f64::from(wanted - before)),
        None => Duration::ZERO,
    }
}

/// A user in its slot, until it has left.
#[derive(Default)]
struct Stay {
    /// From its beginning on.
    leash: OnceCell<Rc<Leash>>,
    relieved: Cell<bool>,
}

impl Stay {
    /// Lets the user leave if it waits for an answer since before `moment`; returns whether it does.
    fn relieve(&self, moment: Moment) -> bool {
        self.relieved.set(self.leash.get().is_some_and(|leash| leash.waits_since() < moment));
        self.relieved.get()
    }
}

/// `vus` users, unless something else is said from outside, until `end`: there running iterations are cut off, as in k6.
pub(super) async fn run(part: &Rc<Part>, vus: u32, max_vus: u32, end: Moment) {
    if part.steering.wanted.get() == 0 {
        part.steering.wanted.set(vus);
    }
    let mut users = JoinSet::new();
    let mut slots: HashMap<u32, Weak<Stay>> = HashMap::new();
    let mut before = 0;
    while !part.crew.halted() && part.now() < end {
        let wanted = part.steering.wanted.get().min(max_vus);
        let stuck_before = part.steering.stuck_before.get();
        // Also those that are to leave anyhow: a slot that is wanted again is not for somebody who is stuck.
        slots.retain(|_, stay| stay.upgrade().is_some_and(|stay| !stay.relieve(stuck_before)));
        let now = part.now();
        for slot in part.share.slots(wanted) {
            if let Entry::Vacant(vacant) = slots.entry(slot) {
                let stay = Rc::new(Stay::default());
                vacant.insert(Rc::downgrade(&stay));
                let planned = now + begin_after(slot, before, wanted);
                users.spawn_local(work(part.clone(), slot, max_vus, [planned, end], stay));
            }
        }
        if wanted < before {
            part.crew.wake_all();
        }
        before = wanted;
        let changed = part.steering.changed.notified();
        if end == NEVER {
            changed.await;
        } else {
            // The end comes whether anything changes or not.
            let _ = tokio::time::timeout_at(part.crew.tally.clock.instant(end), changed).await;
        }
        while users.try_join_next().is_some() {}
    }
    users.join_all().await;
}

async fn work(part: Rc<Part>, slot: u32, max_vus: u32, [planned, end]: [Moment; 2], stay: Rc<Stay>) {
    let wanted = || part.now() < end && !stay.relieved.get() && slot < part.steering.wanted.get().min(max_vus);
    part.rest_until_or(planned, || !wanted()).await;
    if wanted()
        && !part.crew.halted()
        && let Some(mut seat) = part.take(end)
    {
        stay.leash.get_or_init(|| seat.leash.clone());
        let mut planned = Some(planned);
        while wanted() && !seat.leash.halted() {
            let number = part.shared.take_number();
            seat.iterate(&part.crew, &part.assignment, number, planned.take()).await;
        }
        part.crew.give_back(seat);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_is_spread_over_a_second() {
        assert_eq!(begin_after(10, 10, 20), Duration::ZERO);
        assert_eq!(begin_after(15, 10, 20), SPREAD / 2);
        assert_eq!(begin_after(19, 10, 20), SPREAD.mul_f64(0.9));
        assert_eq!(begin_after(9, 10, 20), Duration::ZERO, "somebody's place is taken at once");
        assert_eq!(begin_after(4, 10, 5), Duration::ZERO);
    }
}
