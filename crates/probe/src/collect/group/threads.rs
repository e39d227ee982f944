//! The threads of a group of processes: time on a core and time ready for one, per thread, from one look to the next.
//! Beyond [`THREADS_MAX`] threads only a share of them is read, and sums are scaled.

use std::collections::HashMap;

use crate::files::Files;
use crate::proc::schedstat::{self, Schedule};

/// Threads of a group that are read one by one.
pub(crate) const THREADS_MAX: u32 = 512;

/// A thread is running if it was on a core for more than this share of the time.
const RUNNING_SHARE: f64 = 0.01;

/// The threads of one process as they were at the last look.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    schedules: HashMap<u32, Schedule>,
    /// Time on a core of all threads ever seen.
    run_ns: u64,
    /// What the process had used before it was first looked at, in threads that had ended.
    before_ns: u64,
    /// The most that was ever said, so that a change of source is no step back.
    said_ns: u64,
    seen: bool,
}

/// What the threads of all processes did since the last look.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sum {
    pub(crate) wait_ns: u64,
    pub(crate) slices: u64,
    pub(crate) running: u32,
    pub(crate) busiest: Busiest,
}

/// The thread that asked most of a core.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Busiest {
    pub(crate) run_ns: u64,
    pub(crate) wait_ns: u64,
}

/// How to look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) pid: u32,
    /// Threads of the process.
    pub(crate) threads: u32,
    /// Every how many-th thread is read.
    pub(crate) stride: u32,
    /// Time since the last look.
    pub(crate) elapsed_ns: u64,
}

impl Threads {
    /// Looks at the threads of one process and adds what they did to `sum`.
    pub(crate) fn advance(&mut self, files: &mut Files, look: Look, sum: &mut Sum) {
        let mut before = std::mem::take(&mut self.schedules);
        let mut deltas = Sum::default();
        for tid in tids(files, look) {
            let path = if look.threads == 1 {
                format!("{}/schedstat", look.pid)
            } else {
                format!("{}/task/{tid}/schedstat", look.pid)
            };
            let Some(schedule) = files.proc(path).and_then(schedstat::parse) else { continue };
            let known = before.remove(&tid).filter(|known| known.run_ns <= schedule.run_ns);
            self.schedules.insert(tid, schedule);
            // A thread that is new to a sample may be old: what it did before is no news.
            let since = known.unwrap_or(if look.stride > 1 && self.seen { schedule } else { Schedule::default() });
            let run_ns = schedule.run_ns - since.run_ns;
            let wait_ns = schedule.wait_ns.saturating_sub(since.wait_ns);
            self.run_ns += run_ns;
            deltas.wait_ns += wait_ns;
            deltas.slices += schedule.slices.saturating_sub(since.slices);
            if known.is_some() {
                deltas.running += u32::from(run_ns as f64 > RUNNING_SHARE * look.elapsed_ns as f64);
                if run_ns + wait_ns > sum.busiest.run_ns + sum.busiest.wait_ns {
                    sum.busiest = Busiest { run_ns, wait_ns };
                }
            }
        }
        sum.wait_ns += deltas.wait_ns * u64::from(look.stride);
        sum.slices += deltas.slices * u64::from(look.stride);
        sum.running += deltas.running * look.stride;
    }

    /// CPU time of the process since it began. `ticks_ns` – coarse, but with all threads that ended – corrects what was
    /// seen of threads when some ended between two looks.
    pub(crate) fn run_ns(&mut self, ticks_ns: u64, stride: u32) -> u64 {
        if !self.seen {
            self.seen = true;
            self.before_ns = ticks_ns.saturating_sub(self.run_ns);
        }
        let seen_ns = if stride > 1 { 0 } else { self.before_ns + self.run_ns };
        self.said_ns = self.said_ns.max(seen_ns).max(ticks_ns);
        self.said_ns
    }
}

/// The threads to read: the main one always.
fn tids(files: &Files, look: Look) -> Vec<u32> {
    if look.threads == 1 {
        return vec![look.pid];
    }
    let chosen = |tid: &u32| *tid == look.pid || tid.is_multiple_of(look.stride);
    Files::numbers(&files.path(look.pid, "task")).map_or_else(Vec::new, |tids| tids.filter(chosen).collect())
}
