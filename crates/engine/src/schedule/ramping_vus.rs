//! `ramping-vus`: the number of users follows straight lines. Each user knows from the stages alone when it is wanted.

use std::rc::Rc;
use std::time::Duration;

use model::plan::Stage;
use tokio::task::JoinSet;

use super::Part;

/// When one user is wanted, counted from the beginning of the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shift {
    from: Duration,
    to: Duration,
    /// Whether it ends by a ramp down; otherwise by the end of the scenario.
    ramped_down: bool,
}

/// The stages, from user to user.
pub(super) struct Ramp {
    start_vus: u32,
    stages: Vec<Stage>,
}

impl Ramp {
    pub(super) fn new(start_vus: u32, stages: &[Stage]) -> Self {
        Self { start_vus, stages: stages.to_vec() }
    }

    fn length(&self) -> Duration {
        self.stages.iter().map(|stage| stage.duration).sum()
    }

    fn vus_max(&self) -> u32 {
        self.stages.iter().map(|stage| stage.target).max().unwrap_or(0).max(self.start_vus)
    }

    /// The shifts of user `slot` (0, 1, …). In a stage from a to b users the k-th user more or less comes or goes at
    /// k/|b − a| of its length, so that the last one does at its end.
    pub(super) fn shifts(&self, slot: u32) -> Vec<Shift> {
        let mut shifts = Vec::new();
        let mut since = (slot < self.start_vus).then_some(Duration::ZERO);
        let (mut users, mut begin) = (self.start_vus, Duration::ZERO);
        for stage in &self.stages {
            let part = |steps: u32| stage.duration.mul_f64(f64::from(steps) / f64::from(stage.target.abs_diff(users)));
            if (users..stage.target).contains(&slot) {
                since = Some(begin + part(slot + 1 - users));
            } else if (stage.target..users).contains(&slot)
                && let Some(from) = since.take()
            {
                shifts.push(Shift { from, to: begin + part(users - slot), ramped_down: true });
            }
            (users, begin) = (stage.target, begin + stage.duration);
        }
        shifts.extend(since.map(|from| Shift { from, to: begin, ramped_down: false }));
        shifts.retain(|shift| shift.from < shift.to);
        shifts
    }
}

/// Until when an iteration of shift `index` may go on: for the ramp-down time behind its end, unless the user is
/// wanted again by then; behind the end of the scenario for the graceful time.
fn cut_at(shifts: &[Shift], index: usize, ramp_down: Duration, last: Duration) -> Duration {
    let shift = shifts[index];
    if !shift.ramped_down {
        return last;
    }
    let cut = shift.to + ramp_down;
    match shifts.get(index + 1) {
        Some(next) if next.from <= cut => cut_at(shifts, index + 1, ramp_down, last),
        _ => cut.min(last),
    }
}

/// From when until when a user in `slot` may be held.
pub(super) fn spans(ramp: &Ramp, slot: u32, ramp_down: Duration, graceful: Duration) -> Vec<(Duration, Duration)> {
    let shifts = ramp.shifts(slot);
    let last = ramp.length() + graceful;
    let next = |index: usize| shifts.get(index + 1).map_or(last, |next| next.from);
    let span = |index: usize| (shifts[index].from, cut_at(&shifts, index, ramp_down, last).min(next(index)));
    (0..shifts.len()).map(span).collect()
}

pub(super) async fn run(part: &Rc<Part>, ramp: &Ramp, ramp_down: Duration) {
    let last = ramp.length() + part.scenario.graceful_stop;
    let mut users = JoinSet::new();
    for slot in part.share.slots(ramp.vus_max()) {
        let (part, shifts) = (part.clone(), ramp.shifts(slot));
        users.spawn_local(async move { work(&part, &shifts, ramp_down, last).await });
    }
    users.join_all().await;
}

async fn work(part: &Part, shifts: &[Shift], ramp_down: Duration, last: Duration) {
    let Some(first) = shifts.first() else { return };
    part.rest_until(part.begin + first.from).await;
    for (index, shift) in shifts.iter().enumerate() {
        let (from, to) = (part.begin + shift.from, part.begin + shift.to);
        // Of a user that is still busy from its last shift nothing was planned.
        let mut planned = (part.now() <= from || index == 0).then_some(from);
        part.rest_until(from).await;
        let Some(mut seat) = part.take(part.begin + cut_at(shifts, index, ramp_down, last)) else { return };
        while !seat.leash.halted() && part.now() < to {
            let number = part.shared.take_number();
            seat.iterate(&part.crew, &part.assignment, number, planned.take()).await;
        }
        part.crew.give_back(seat);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn ramp(start_vus: u32, stages: &[(u32, u32)]) -> Ramp {
        let stage = |&(seconds, target)| Stage { duration: SECOND * seconds, target };
        Ramp { start_vus, stages: stages.iter().map(stage).collect() }
    }

    fn shifts(ramp: &Ramp, slot: u32) -> Vec<(f64, f64, bool)> {
        let shift = |shift: Shift| (shift.from.as_secs_f64(), shift.to.as_secs_f64(), shift.ramped_down);
        ramp.shifts(slot).into_iter().map(shift).collect()
    }

    #[test]
    fn users_come_and_go_along_the_line() {
        let ramp = ramp(1, &[(10, 5), (5, 5), (8, 1)]);
        assert_eq!(shifts(&ramp, 0), [(0.0, 23.0, false)]);
        assert_eq!(shifts(&ramp, 1), [(2.5, 23.0, true)]);
        assert_eq!(shifts(&ramp, 4), [(10.0, 17.0, true)]);
        assert_eq!(shifts(&ramp, 5), []);
    }

    #[test]
    fn stages_without_length_jump() {
        let ramp = ramp(0, &[(0, 10), (5, 10), (0, 2), (5, 2)]);
        assert_eq!(shifts(&ramp, 9), [(0.0, 5.0, true)]);
        assert_eq!(shifts(&ramp, 1), [(0.0, 10.0, false)]);
    }

    #[test]
    fn a_user_that_is_wanted_again_soon_is_not_cut() {
        let ramp = ramp(2, &[(10, 0), (10, 2), (10, 0)]);
        let shifts = ramp.shifts(1);
        assert_eq!(shifts.len(), 2);
        // Gone at 5 s, wanted again at 20 s, gone for good at 25 s.
        assert_eq!(cut_at(&shifts, 0, SECOND * 3, SECOND * 60), SECOND * 8);
        assert_eq!(cut_at(&shifts, 0, SECOND * 15, SECOND * 60), SECOND * 40);
        assert_eq!(cut_at(&shifts, 1, SECOND * 15, SECOND * 30), SECOND * 30);
    }
}
