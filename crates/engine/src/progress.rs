//! How far a run is, for scripts that ask. Each worker counts in places of its own, so that counting costs a plain
//! write; whoever asks adds them up. Nothing here steers the run.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use model::unit::Moment;

use crate::clock::Clock;

/// What is known of a run while it goes on. Shared by all workers.
#[derive(Debug)]
pub struct Progress {
    clock: Option<Clock>,
    began: AtomicU64,
    load: AtomicU64,
    workers: Box<[Counts]>,
    failed: AtomicBool,
}

/// The counts of one worker, on a cache line of their own.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Counts {
    made: AtomicU32,
    active: AtomicU32,
    completed: AtomicU64,
    interrupted: AtomicU64,
    /// Iterations of each scenario that ended by themselves.
    scenarios: Box<[AtomicU64]>,
}

/// Counts of all workers together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Users that are made.
    pub made: u32,
    /// Users that scenarios hold.
    pub active: u32,
    /// Iterations that ended by themselves.
    pub completed: u64,
    /// Iterations that were cut off.
    pub interrupted: u64,
}

impl Progress {
    /// That of something without scenarios and without time: the one run of the init code, and tests.
    pub fn none() -> Self {
        Self::new(None, 1, 0)
    }

    /// That of a run.
    pub(crate) fn of_run(clock: Clock, workers: usize, scenarios: usize) -> Self {
        Self::new(Some(clock), workers, scenarios)
    }

    fn new(clock: Option<Clock>, workers: usize, scenarios: usize) -> Self {
        let began = clock.map_or(0, |clock| clock.now().0);
        let counts = |_| Counts { scenarios: (0..scenarios).map(|_| AtomicU64::new(0)).collect(), ..Counts::default() };
        Self {
            clock,
            began: AtomicU64::new(began),
            load: AtomicU64::new(began),
            workers: (0..workers.max(1)).map(counts).collect(),
            failed: AtomicBool::new(false),
        }
    }

    /// How long the run has gone on: since its users were ready.
    pub fn run_time(&self) -> Duration {
        self.since(&self.began)
    }

    /// How long the load has gone on: scenarios count their start times from its beginning.
    pub fn load_time(&self) -> Duration {
        self.since(&self.load)
    }

    fn since(&self, moment: &AtomicU64) -> Duration {
        self.clock.map_or(Duration::ZERO, |clock| clock.now().since(Moment(moment.load(Ordering::Relaxed))))
    }

    /// All counts.
    pub fn counted(&self) -> Counted {
        self.workers.iter().fold(Counted::default(), |sum, worker| Counted {
            made: sum.made + worker.made.load(Ordering::Relaxed),
            active: sum.active + worker.active.load(Ordering::Relaxed),
            completed: sum.completed + worker.completed.load(Ordering::Relaxed),
            interrupted: sum.interrupted + worker.interrupted.load(Ordering::Relaxed),
        })
    }

    /// Iterations of a scenario, by its place in the plan, that ended by themselves.
    pub fn completed_in(&self, scenario: usize) -> u64 {
        let counts = self.workers.iter().filter_map(|worker| worker.scenarios.get(scenario));
        counts.map(|count| count.load(Ordering::Relaxed)).sum()
    }

    /// The run goes on, and has failed.
    pub fn mark_failed(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Whether it was marked as failed.
    pub fn is_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    pub(crate) fn begins(&self, at: Moment) {
        self.began.store(at.0, Ordering::Relaxed);
    }

    pub(crate) fn load_begins(&self, at: Moment) {
        self.load.store(at.0, Ordering::Relaxed);
    }

    pub(crate) fn user_made(&self, worker: usize) {
        self.workers[worker].made.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn active(&self, worker: usize, users: u32) {
        self.workers[worker].active.store(users, Ordering::Relaxed);
    }

    /// Users of a worker that scenarios hold.
    pub(crate) fn active_on(&self, worker: usize) -> u32 {
        self.workers[worker].active.load(Ordering::Relaxed)
    }

    pub(crate) fn completed(&self, worker: usize, scenario: usize) {
        self.workers[worker].completed.fetch_add(1, Ordering::Relaxed);
        if let Some(count) = self.workers[worker].scenarios.get(scenario) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn interrupted(&self, worker: usize) {
        self.workers[worker].interrupted.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_all_workers_add_up() {
        let progress = Progress::new(None, 2, 2);
        progress.user_made(0);
        progress.user_made(1);
        progress.active(1, 3);
        progress.active(1, 2);
        progress.completed(0, 1);
        progress.completed(1, 1);
        // Setup and teardown belong to no scenario.
        progress.completed(1, usize::MAX);
        progress.interrupted(0);
        let counted = Counted { made: 2, active: 2, completed: 3, interrupted: 1 };
        assert_eq!(progress.counted(), counted);
        assert_eq!((progress.completed_in(0), progress.completed_in(1), progress.completed_in(9)), (0, 2, 0));
        assert_eq!(progress.run_time(), Duration::ZERO);
    }

    #[test]
    fn time_counts_from_the_beginning_of_each_part() {
        let clock = Clock::new(tokio::time::Instant::now().into_std());
        let progress = Progress::of_run(clock, 1, 0);
        progress.begins(Moment::after(Duration::from_secs(0)));
        progress.load_begins(Moment::after(Duration::from_secs(3600)));
        assert_eq!(progress.load_time(), Duration::ZERO, "it has not begun");
        assert!(progress.run_time() < Duration::from_secs(3600));
    }
}
