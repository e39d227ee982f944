//! The number of users is set from outside while the scenario runs. A jump up is spread over a second; a user that is
//! no longer wanted finishes its iteration and closes its connections.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use model::unit::Moment;
use tokio::task::JoinSet;

use super::Part;
use crate::alarm::NEVER;

const SPREAD: Duration = Duration::from_secs(1);

/// When user `slot` of those that are new in a jump from `before` to `wanted` users begins.
fn begin_after(slot: u32, before: u32, wanted: u32) -> Duration {
    SPREAD.mul_f64(f64::from(slot - before) / f64::from(wanted - before))
}

pub(super) async fn run(part: &Rc<Part>, max_vus: u32) {
    let mut users = JoinSet::new();
    let mut busy: HashMap<u32, Rc<Cell<bool>>> = HashMap::new();
    let mut before = 0;
    while !part.crew.halted() {
        let wanted = part.steering.wanted.get().min(max_vus);
        let now = part.now();
        for slot in part.share.slots(wanted).filter(|slot| *slot >= before) {
            let working = busy.entry(slot).or_default();
            if !working.replace(true) {
                let planned = now + begin_after(slot, before, wanted);
                users.spawn_local(work(part.clone(), slot, max_vus, planned, working.clone()));
            }
        }
        if wanted < before {
            part.crew.wake_all();
        }
        before = wanted;
        part.steering.changed.notified().await;
        while users.try_join_next().is_some() {}
    }
    users.join_all().await;
}

async fn work(part: Rc<Part>, slot: u32, max_vus: u32, planned: Moment, working: Rc<Cell<bool>>) {
    let wanted = || slot < part.steering.wanted.get().min(max_vus);
    part.rest_until_or(planned, || !wanted()).await;
    if wanted()
        && !part.crew.halted()
        && let Some(mut seat) = part.take(NEVER)
    {
        let mut planned = Some(planned);
        while wanted() && !seat.leash.halted() {
            let number = part.shared.take_number();
            seat.iterate(&part.crew, &part.assignment, number, planned.take()).await;
        }
        part.crew.give_back(seat);
    }
    working.set(false);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_is_spread_over_a_second() {
        assert_eq!(begin_after(10, 10, 20), Duration::ZERO);
        assert_eq!(begin_after(15, 10, 20), SPREAD / 2);
        assert_eq!(begin_after(19, 10, 20), SPREAD.mul_f64(0.9));
    }
}
