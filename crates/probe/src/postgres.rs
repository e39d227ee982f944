//! What PostgreSQL's sessions do: by login (`pg_stat_activity`) or, without one, by the titles of its processes. Samples
//! ten times a second and reports means. Never writes, never sees queries' texts.

pub(crate) mod login;
pub(crate) mod titles;

use model::signal;

use crate::report::Sheet;

/// What one session does at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    /// Executes, and waits for nothing but a core.
    Cpu,
    /// Waits for a row, a table or another heavyweight lock.
    Lock,
    /// Waits for disk or the log.
    Io,
    /// Executes and waits for something else.
    Other,
    IdleInTransaction,
    Idle,
}

/// Sessions by activity, summed over samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Mean {
    samples: u32,
    cpu: f64,
    lock: f64,
    io: f64,
    other: f64,
    idle_in_transaction: f64,
    idle: f64,
}

impl Mean {
    /// Takes one sample: how many sessions do what.
    pub(crate) fn sample(&mut self, sessions: impl IntoIterator<Item = (Activity, f64)>) {
        self.samples += 1;
        for (activity, count) in sessions {
            *match activity {
                Activity::Cpu => &mut self.cpu,
                Activity::Lock => &mut self.lock,
                Activity::Io => &mut self.io,
                Activity::Other => &mut self.other,
                Activity::IdleInTransaction => &mut self.idle_in_transaction,
                Activity::Idle => &mut self.idle,
            } += count;
        }
    }

    /// Writes the means down and begins anew.
    pub(crate) fn collect(&mut self, subject: &str, sheet: &mut Sheet) {
        let Self { samples, cpu, lock, io, other, idle_in_transaction, idle } = std::mem::take(self);
        if samples == 0 {
            return;
        }
        let mut put = |signal, sum: f64| sheet.put(subject, signal, sum / f64::from(samples));
        put(signal::PG_ACTIVE_CPU, cpu);
        put(signal::PG_ACTIVE_LOCK, lock);
        put(signal::PG_ACTIVE_IO, io);
        put(signal::PG_ACTIVE_OTHER, other);
        put(signal::PG_IDLE_IN_TRANSACTION, idle_in_transaction);
        put(signal::PG_IDLE, idle);
        put(signal::PG_SESSIONS, cpu + lock + io + other + idle_in_transaction + idle);
    }
}
