//! Who starts iterations, and when: one file per executor; the two arrival rates share
//! a third. What can be said without a clock is a pure function there;
//! the rest drives the users of one worker, which holds every n-th user of each scenario.

mod arrivals;
mod constant_arrival_rate;
mod constant_vus;
mod externally_controlled;
mod per_vu_iterations;
mod ramping_arrival_rate;
mod ramping_vus;
mod shared_iterations;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use model::metric::MetricId;
use model::plan::{Executor, Plan, Scenario};
use model::segment::Segment;
use model::unit::Moment;
use tokio::sync::Notify;

use crate::alarm::{Alarm, Leash, NEVER};
use crate::crew::{Crew, Seat};
use crate::user::Assignment;
use arrivals::{Arrivals, Offer};

/// What all workers know of one scenario together.
pub(crate) struct Shared {
    /// The next iteration's number on this machine.
    next: AtomicU64,
    /// Parts that are not over yet.
    parts: AtomicUsize,
    arrivals: Arrivals,
}

impl Shared {
    pub(crate) fn new(workers: usize) -> Self {
        Self { next: AtomicU64::new(0), parts: AtomicUsize::new(workers), arrivals: Arrivals::new(workers) }
    }

    /// The number, among those of this machine, of the iteration that begins now.
    fn take_number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Whether the part that ends now is the last one.
    fn part_ends(&self) -> bool {
        self.parts.fetch_sub(1, Ordering::AcqRel) == 1
    }
}

/// The number of users that is set from outside.
#[derive(Default)]
pub(crate) struct Steering {
    wanted: Cell<u32>,
    /// Who waits for an answer since before this moment is to be replaced.
    stuck_before: Cell<Moment>,
    changed: Notify,
}

impl Steering {
    pub(crate) fn set(&self, users: u32) {
        self.wanted.set(users);
        self.changed.notify_one();
    }

    pub(crate) fn relieve(&self, moment: Moment) {
        self.stuck_before.set(moment);
        self.changed.notify_one();
    }

    /// Lets who waits for a change look at a stop.
    pub(crate) fn wake(&self) {
        self.changed.notify_one();
    }
}

/// Which share of a scenario belongs to a worker.
#[derive(Clone, Debug)]
pub(crate) struct Share {
    pub(crate) worker: usize,
    pub(crate) workers: usize,
    /// The worker that has user 0; differs between scenarios so that they spread evenly.
    pub(crate) first: usize,
    /// Which part of the test is this machine's.
    pub(crate) segment: Rc<Segment>,
}

impl Share {
    /// Which of `users` users of the whole test are this worker's.
    pub(crate) fn slots(&self, users: u32) -> impl Iterator<Item = u32> {
        let begin = (self.worker + self.workers - self.first % self.workers) % self.workers;
        let here = self.segment.count(users.into());
        let slot = |index: u64| u32::try_from(self.segment.item(index)).expect("below a u32");
        (begin as u64..here).step_by(self.workers).map(slot)
    }

    /// How many of `users` users of the whole test are this machine's.
    fn users_here(&self, users: u32) -> u32 {
        u32::try_from(self.segment.count(users.into())).expect("a part is no more than the whole")
    }
}

/// One worker's part of one scenario.
pub(crate) struct Part {
    pub(crate) scenario: Scenario,
    pub(crate) assignment: Rc<Assignment>,
    pub(crate) share: Share,
    pub(crate) shared: Arc<Shared>,
    pub(crate) crew: Rc<Crew>,
    pub(crate) steering: Rc<Steering>,
    /// When the scenario begins.
    pub(crate) begin: Moment,
}

impl Part {
    fn now(&self) -> Moment {
        self.crew.tally.clock.now()
    }

    /// Iterations that were planned and will not be started.
    fn drop_iterations(&self, count: u64) {
        if count > 0 {
            let meter = &self.crew.tally.meter;
            meter.add(MetricId::DROPPED_ITERATIONS, count as f64, self.assignment.tags);
            meter.window(|window| window.dropped += count);
        }
    }

    /// Rests until `moment` or a stop, without holding a user.
    async fn rest_until(&self, moment: Moment) {
        self.rest_until_or(moment, || false).await;
    }

    /// The same, ending as well when `changed` once all are woken.
    async fn rest_until_or(&self, moment: Moment, changed: impl Fn() -> bool) {
        let leash = Rc::new(Leash::default());
        self.crew.enlist(&leash);
        Alarm::new(self.crew.tally.clock).rest_until(moment, &leash, changed).await;
    }

    fn take(&self, cut_at: Moment) -> Option<Seat> {
        self.crew.take(self.scenario.graceful_stop, cut_at)
    }

    /// Lets `seat` loop until `until`, a stop, or the end of what `next` gives it.
    async fn repeat(&self, seat: &mut Seat, until: Moment, mut next: impl FnMut() -> Option<u64>) {
        let mut planned = Some(self.begin);
        while !seat.leash.halted() && self.now() < until {
            let Some(number) = next() else { break };
            seat.iterate(&self.crew, &self.assignment, number, planned.take()).await;
        }
    }
}

/// Runs one worker's part of a scenario to its end.
pub(crate) async fn run(part: Rc<Part>) {
    let leash = Rc::new(Leash::default());
    part.crew.enlist(&leash);
    Alarm::new(part.crew.tally.clock).rest_until(part.begin, &leash, || false).await;
    match &part.scenario.executor {
        Executor::SharedIterations { vus, iterations, max_duration } => {
            shared_iterations::run(&part, *vus, *iterations, part.begin + *max_duration).await;
        }
        Executor::PerVuIterations { vus, iterations, max_duration } => {
            per_vu_iterations::run(&part, *vus, *iterations, part.begin + *max_duration).await;
        }
        Executor::ConstantVus { vus, duration } => constant_vus::run(&part, *vus, part.begin + *duration).await,
        Executor::RampingVus { start_vus, stages, graceful_ramp_down } => {
            ramping_vus::run(&part, &ramping_vus::Ramp::new(*start_vus, stages), *graceful_ramp_down).await;
        }
        Executor::ConstantArrivalRate { rate, time_unit, duration, pre_allocated_vus, max_vus } => {
            let rate = constant_arrival_rate::Rate { per_second: rate / time_unit.as_secs_f64(), duration: *duration };
            let (pre_allocated_vus, max_vus) = (*pre_allocated_vus, *max_vus);
            let start = |index| rate.start(index);
            arrivals::run(&part, Offer { start: &start, duration: *duration, pre_allocated_vus, max_vus }, &leash)
                .await;
        }
        Executor::RampingArrivalRate { start_rate, time_unit, stages, pre_allocated_vus, max_vus } => {
            let ramp = ramping_arrival_rate::Ramp::new(*start_rate, *time_unit, stages);
            let duration = stages.iter().map(|stage| stage.duration).sum();
            let (pre_allocated_vus, max_vus) = (*pre_allocated_vus, *max_vus);
            let start = |index| ramp.start(index);
            arrivals::run(&part, Offer { start: &start, duration, pre_allocated_vus, max_vus }, &leash).await;
        }
        Executor::ExternallyControlled { vus, max_vus, duration } => {
            let end = duration.map_or(NEVER, |duration| part.begin + duration);
            externally_controlled::run(&part, *vus, *max_vus, end).await;
        }
    }
}

/// How many users of each scenario are made ready before the load begins.
fn ready_users(executor: &Executor) -> u32 {
    match executor {
        Executor::ConstantArrivalRate { pre_allocated_vus, .. }
        | Executor::RampingArrivalRate { pre_allocated_vus, .. } => *pre_allocated_vus,
        Executor::ExternallyControlled { vus, .. } => *vus,
        other => other.max_vus(),
    }
}

/// From when until when a scenario may hold its users.
fn span(scenario: &Scenario) -> (Moment, Moment) {
    let begin = Moment::START + scenario.start_time;
    (begin, scenario.executor.duration().map_or(NEVER, |duration| begin + duration + scenario.graceful_stop))
}

/// For each scenario the worker that has its user 0: behind the users of the earlier scenarios that it overlaps.
pub(crate) fn first_workers(plan: &Plan, workers: usize) -> Vec<usize> {
    let scenarios = &plan.scenarios;
    let overlap = |a: &Scenario, b: &Scenario| span(a).0 < span(b).1 && span(b).0 < span(a).1;
    let first = |index: usize| {
        let earlier = scenarios[..index].iter().filter(|earlier| overlap(earlier, &scenarios[index]));
        let users = earlier.map(|earlier| plan.segment.count(ready_users(&earlier.executor).into()));
        usize::try_from(users.sum::<u64>() % workers as u64).expect("below a number of workers")
    };
    (0..scenarios.len()).map(first).collect()
}

/// How many users one worker must have ready: the most that its shares of the scenarios may hold at once.
pub(crate) fn users_needed(plan: &Plan, worker: usize, workers: usize) -> u32 {
    let segment = Rc::new(plan.segment.clone());
    let mut changes: Vec<(Moment, i64)> = Vec::new();
    for (scenario, first) in plan.scenarios.iter().zip(first_workers(plan, workers)) {
        let share = Share { worker, workers, first, segment: segment.clone() };
        for (from, to, users) in holds(scenario, &share) {
            changes.extend([(from, users), (to, -users)]);
        }
    }
    // At one and the same moment users are given back before they are taken.
    changes.sort_unstable();
    let mut held = 0;
    let most = changes.into_iter().map(|(_, change)| {
        held += change;
        held
    });
    u32::try_from(most.max().unwrap_or(0)).unwrap_or(u32::MAX)
}

/// From when until when a worker's share of a scenario may hold how many users.
fn holds(scenario: &Scenario, share: &Share) -> Vec<(Moment, Moment, i64)> {
    let Executor::RampingVus { start_vus, stages, graceful_ramp_down } = &scenario.executor else {
        let (from, to) = span(scenario);
        let users = share.slots(ready_users(&scenario.executor)).count();
        return vec![(from, to, i64::try_from(users).expect("no more than a u32"))];
    };
    let ramp = ramping_vus::Ramp::new(*start_vus, stages);
    let begin = Moment::START + scenario.start_time;
    let slots = share.slots(scenario.executor.max_vus());
    let spans = slots.flat_map(|slot| ramping_vus::spans(&ramp, slot, *graceful_ramp_down, scenario.graceful_stop));
    spans.map(|(from, to)| (begin + from, begin + to, 1)).collect()
}
