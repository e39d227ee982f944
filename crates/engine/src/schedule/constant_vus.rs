//! `constant-vus`: users loop for a time.

use std::rc::Rc;

use model::unit::Moment;
use tokio::task::JoinSet;

use super::Part;

pub(super) async fn run(part: &Rc<Part>, vus: u32, end: Moment) {
    let mut users = JoinSet::new();
    for _ in part.share.slots(vus) {
        let part = part.clone();
        users.spawn_local(async move {
            let Some(mut seat) = part.take(end + part.scenario.graceful_stop) else { return };
            part.repeat(&mut seat, end, || Some(part.shared.take_number())).await;
            part.crew.give_back(seat);
        });
    }
    users.join_all().await;
}
