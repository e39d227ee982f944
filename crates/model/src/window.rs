//! What the engine saw in one second. Windows are the only thing that crosses from the engine to the record while a
//! run goes on, and they add up exactly.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::histogram::Histogram;
use crate::unit::{Interval, Moment};

/// One second of load, all workers together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// What it covers; about one second, shorter at the end of a run.
    pub interval: Interval,
    /// Users that were active at the end of it.
    pub users: u32,
    /// Mean number of iterations under way (time-weighted): N in Little's law, thinkers included.
    pub active_mean: f64,
    /// Mean number of requests waiting for an answer (time-weighted).
    pub in_flight_mean: f64,
    /// Iterations that ended in it.
    pub iterations: u64,
    /// Of these, ended by an exception of the script.
    pub exceptions: u64,
    /// Iterations that were planned and not started, since no user was free.
    pub dropped: u64,
    /// Iterations that were cut off at the end of a scenario or by a stop.
    pub interrupted: u64,
    /// Lengths of the iterations that ended.
    pub iteration_duration: Histogram,
    /// How much later than planned iterations and wake-ups began: the generator's own lateness.
    pub late: Histogram,
    /// All requests.
    pub requests: Requests,
    /// The same by endpoint (the `name` tag, grouped), at most [`ENDPOINTS_MAX`] and [`OTHER`].
    pub endpoints: BTreeMap<String, Requests>,
    /// Failed requests by cause: k6's error code and text, or `status 503`.
    pub errors: BTreeMap<String, u64>,
    /// For each promise of the plan, in its order.
    pub promises: Vec<PromiseCount>,
    /// Bytes written to connections, headers and TLS included.
    pub data_sent: u64,
    /// Bytes read from connections.
    pub data_received: u64,
    /// New connections that were opened.
    pub connections_opened: u64,
    /// Connections that were open at the end of it.
    pub connections_open: u64,
    /// The engine's own state in this second.
    pub generator: GeneratorWindow,
}

/// How many endpoints are told apart; further ones count under [`OTHER`].
pub const ENDPOINTS_MAX: usize = 200;
/// The endpoint of requests beyond [`ENDPOINTS_MAX`] different names.
pub const OTHER: &str = "other";

/// Requests of one second or one step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Requests {
    /// Requests that began.
    pub started: u64,
    /// Requests that ended, failed ones included.
    pub finished: u64,
    /// Of these, failed (no answer, or a status that was not expected).
    pub failed: u64,
    /// `http_req_duration` of all that ended, failed ones included.
    pub duration: Histogram,
    /// Sum of connecting and TLS times, in milliseconds.
    pub connecting_ms_sum: f64,
    /// Sum of the times spent blocked before a connection could be used, in milliseconds.
    pub blocked_ms_sum: f64,
    /// Sum of the times to the first byte, in milliseconds.
    pub waiting_ms_sum: f64,
    /// Sum of the times from the first to the last byte, in milliseconds.
    pub receiving_ms_sum: f64,
    /// How many ended with each status, in the order of first use; 0 is no answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statuses: Vec<(u16, u64)>,
}

impl Requests {
    /// Adds all requests of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.started += other.started;
        self.finished += other.finished;
        self.failed += other.failed;
        self.duration.merge(&other.duration);
        self.connecting_ms_sum += other.connecting_ms_sum;
        self.blocked_ms_sum += other.blocked_ms_sum;
        self.waiting_ms_sum += other.waiting_ms_sum;
        self.receiving_ms_sum += other.receiving_ms_sum;
        other.statuses.iter().for_each(|&(status, count)| self.count_status(status, count));
    }

    /// Counts requests that ended with this status.
    pub fn count_status(&mut self, status: u16, count: u64) {
        match self.statuses.iter_mut().find(|(known, _)| *known == status) {
            Some((_, sum)) => *sum += count,
            None => self.statuses.push((status, count)),
        }
    }
}

/// Samples that a promise speaks of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromiseCount {
    /// All of them.
    pub samples: u64,
    /// Those that break it.
    pub broken: u64,
}

/// The engine's own state in one second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GeneratorWindow {
    /// Worker threads.
    pub workers: u32,
    /// Mean share of open connections that held an answer which the engine had not read yet, 0 to 1; `None` if it
    /// was not sampled.
    pub unread_share: Option<f64>,
}

impl Window {
    /// The beginning of it.
    pub fn start(&self) -> Moment {
        self.interval.from
    }

    /// Gives back memory that a window which is only kept does not need.
    pub fn pack(&mut self) {
        for histogram in [&mut self.iteration_duration, &mut self.late, &mut self.requests.duration] {
            histogram.pack();
        }
    }

    /// Adds what came right behind it: one longer window instead of two.
    pub fn join(&mut self, later: &Self) {
        let (mine, theirs) = (self.interval.seconds(), later.interval.seconds());
        let mean = |mine_of: f64, theirs_of: f64| (mine_of * mine + theirs_of * theirs) / (mine + theirs).max(1e-9);
        let active_mean = mean(self.active_mean, later.active_mean);
        let in_flight_mean = mean(self.in_flight_mean, later.in_flight_mean);
        let workers = self.generator.workers.max(later.generator.workers);
        self.merge(later);
        (self.active_mean, self.in_flight_mean) = (active_mean, in_flight_mean);
        (self.users, self.connections_open) = (later.users, later.connections_open);
        self.generator.workers = workers;
    }

    /// Adds what another worker saw in the same second.
    pub fn merge(&mut self, other: &Self) {
        self.interval.to = self.interval.to.max(other.interval.to);
        self.users += other.users;
        self.active_mean += other.active_mean;
        self.in_flight_mean += other.in_flight_mean;
        self.iterations += other.iterations;
        self.exceptions += other.exceptions;
        self.dropped += other.dropped;
        self.interrupted += other.interrupted;
        self.iteration_duration.merge(&other.iteration_duration);
        self.late.merge(&other.late);
        self.requests.merge(&other.requests);
        for (name, requests) in &other.endpoints {
            self.endpoints.entry(name.clone()).or_default().merge(requests);
        }
        for (cause, count) in &other.errors {
            *self.errors.entry(cause.clone()).or_default() += count;
        }
        self.promises.resize(self.promises.len().max(other.promises.len()), PromiseCount::default());
        for (mine, theirs) in self.promises.iter_mut().zip(&other.promises) {
            mine.samples += theirs.samples;
            mine.broken += theirs.broken;
        }
        self.data_sent += other.data_sent;
        self.data_received += other.data_received;
        self.connections_opened += other.connections_opened;
        self.connections_open += other.connections_open;
        self.generator.workers += other.generator.workers;
        self.generator.unread_share = match (self.generator.unread_share, other.generator.unread_share) {
            (Some(mine), Some(theirs)) => Some(f64::midpoint(mine, theirs)),
            (mine, theirs) => mine.or(theirs),
        };
    }
}
