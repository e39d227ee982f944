//! `shared-iterations`: users take the next iteration from one counter, over all workers.

use std::rc::Rc;
use std::sync::atomic::Ordering;

use model::unit::Moment;
use tokio::task::JoinSet;

use super::Part;

pub(super) async fn run(part: &Rc<Part>, vus: u32, iterations: u64, end: Moment) {
    let iterations = part.share.segment.count(iterations);
    let mut users = JoinSet::new();
    for _ in part.share.slots(vus) {
        let part = part.clone();
        users.spawn_local(async move {
            let Some(mut seat) = part.take(end + part.scenario.graceful_stop) else { return };
            let next = || Some(part.shared.take_number()).filter(|number| *number < iterations);
            part.repeat(&mut seat, end, next).await;
            part.crew.give_back(seat);
        });
    }
    users.join_all().await;
    // Only time drops iterations: what a stop leaves over was called off.
    if part.shared.part_ends() && part.now() >= end {
        part.drop_iterations(iterations.saturating_sub(part.shared.next.load(Ordering::Relaxed)));
    }
}
