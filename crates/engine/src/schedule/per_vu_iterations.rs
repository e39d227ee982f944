//! `per-vu-iterations`: each user runs its own number of iterations.

use std::rc::Rc;

use model::unit::Moment;
use tokio::task::JoinSet;

use super::Part;

pub(super) async fn run(part: &Rc<Part>, vus: u32, iterations: u64, end: Moment) {
    let mut users = JoinSet::new();
    for _ in part.share.slots(vus) {
        let part = part.clone();
        users.spawn_local(async move {
            let Some(mut seat) = part.take(end + part.scenario.graceful_stop) else { return };
            let mut left = iterations;
            let next = || {
                left = left.checked_sub(1)?;
                Some(part.shared.take_number())
            };
            part.repeat(&mut seat, end, next).await;
            // Only time drops iterations: what a stop leaves over was called off.
            if part.now() >= end {
                part.drop_iterations(left);
            }
            part.crew.give_back(seat);
        });
    }
    users.join_all().await;
}
