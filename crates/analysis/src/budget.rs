//! The time budget: where the mean time of a request goes, in milliseconds, with the unexplained rest always said.

use std::collections::BTreeMap;

use crate::owner::{Owner, owner};
use crate::scene::Scene;

/// Waiting to be read by the generator, and for a connection that was not being opened yet.
pub(crate) const CLIENT: &str = "client";
/// Opening connections.
pub(crate) const CONNECT: &str = "connect";
/// Connected and not yet accepted by the service.
pub(crate) const ACCEPT: &str = "accept";
/// Threads of the service ready to run, waiting for a core.
pub(crate) const RUN_QUEUE: &str = "run_queue";
/// Waiting inside the service for one of its busy threads.
pub(crate) const SERVICE_QUEUE: &str = "service_queue";
/// The service computing.
pub(crate) const SERVICE_CPU: &str = "service_cpu";
/// Waiting for a connection of the pool.
pub(crate) const POOL_WAIT: &str = "pool_wait";
/// Holding a connection while the database waits for the service.
pub(crate) const HELD: &str = "held";
/// The database working or waiting inside itself.
pub(crate) const DATABASE: &str = "database";
/// Packets queued on the way.
pub(crate) const LINK: &str = "link";
/// What nothing accounts for.
pub(crate) const UNEXPLAINED: &str = "unexplained";

/// A part in words that follow an amount of time: `20 ms` …
pub(crate) fn words(part: &str) -> &str {
    match part {
        CLIENT => "waiting to be sent or read by the generator",
        CONNECT => "connecting",
        ACCEPT => "waiting to be accepted",
        RUN_QUEUE => "waiting for a core",
        SERVICE_QUEUE => "waiting for the service's busy threads",
        SERVICE_CPU => "computing in the service",
        POOL_WAIT => "waiting for a database connection",
        HELD => "holding a connection that is not used",
        DATABASE => "in the database",
        LINK => "on the link",
        _ => "unexplained",
    }
}

/// Where the mean time of a request goes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Budget {
    /// Milliseconds by part; always has [`UNEXPLAINED`].
    pub(crate) parts: BTreeMap<String, f64>,
    /// All that a user waits for a request: response time and the time before it could be sent.
    pub(crate) total_ms: f64,
}

/// Splits the mean time of a request into parts.
///
/// Every part that is a queue follows from Little's law: mean number waiting ÷ requests per second. What is left over
/// goes to the one station that is full, since in a closed system the queue stands in front of the full station
/// (R = N / X − Z); with no full station, or a full one that cannot be where it waits, it stays unexplained. Not true
/// where parts overlap (a service that computes while its database works): then parts may add up to more than the
/// total, and the rest is zero.
pub(crate) fn budget(scene: &Scene<'_>) -> Budget {
    let total_ms = scene.step.wait_ms();
    let mut parts = BTreeMap::new();
    if let Some(rate) = scene.rate() {
        measured(scene, rate, &mut parts);
    }
    let explained: f64 = parts.values().sum();
    let rest = (total_ms - explained).max(0.0);
    // The rest is attributed only where it cannot be mistaken: a twentieth of the time is measuring error.
    let part = if rest > 0.05 * total_ms { full_station(scene) } else { UNEXPLAINED };
    *parts.entry(part.to_owned()).or_insert(0.0) += rest;
    parts.entry(UNEXPLAINED.to_owned()).or_insert(0.0);
    Budget { parts, total_ms }
}

fn measured(scene: &Scene<'_>, rate: f64, parts: &mut BTreeMap<String, f64>) {
    let per_request_ms = |amount_per_s: f64| amount_per_s / rate * 1e3;
    let mut add = |part: &str, value: Option<f64>| {
        if let Some(value) = value.filter(|value| *value > 0.0) {
            *parts.entry(part.to_owned()).or_insert(0.0) += value;
        }
    };
    let step = &scene.step;
    add(CONNECT, Some(step.connecting_ms));
    add(CLIENT, Some((step.blocked_ms - step.connecting_ms).max(0.0)));
    add(CLIENT, scene.unread.map(|share| per_request_ms(share * step.connections_mean)));
    if step.connections_per_s > 0.01 * rate {
        add(ACCEPT, scene.listen.queue.map(per_request_ms));
    }
    add(RUN_QUEUE, scene.service.wait.map(per_request_ms));
    add(SERVICE_CPU, scene.service.run.map(per_request_ms));
    add(POOL_WAIT, scene.pool.wait.map(per_request_ms));
    let working = scene.sessions.map(|sessions| sessions.busy()).or(scene.pool.usage);
    add(DATABASE, working.map(per_request_ms));
    let held = scene.pool.usage.or(scene.sessions.map(|sessions| sessions.held()));
    add(HELD, held.zip(working).map(|(held, working)| held - working).filter(|idle| *idle > 0.2).map(per_request_ms));
    if let (Some(rtt), Some(least)) = (scene.link.rtt_ms, scene.link.rtt_min_ms)
        && is_link_queued(scene)
    {
        add(LINK, Some((rtt - least).min(step.latency_ms.avg)));
    }
}

/// Whether bytes wait to be sent, so that a long round trip is a queue and not a delayed acknowledgement.
pub(crate) fn is_link_queued(scene: &Scene<'_>) -> bool {
    let link = &scene.link;
    let queued = link.queued_bytes.is_some_and(|bytes| bytes > 1500.0);
    let inflated = matches!((link.rtt_ms, link.rtt_min_ms), (Some(rtt), Some(least)) if rtt > 5.0 * least && rtt > 2.0);
    queued && inflated && link.busy.is_some_and(|busy| busy >= 0.5)
}

/// The part in front of the full station, if there is one.
fn full_station(scene: &Scene<'_>) -> &'static str {
    if is_pool_full_from_outside(scene) {
        return POOL_WAIT;
    }
    match owner(scene) {
        Owner::Service => SERVICE_QUEUE,
        _ if scene.service.is_one_thread_full() => SERVICE_QUEUE,
        Owner::Generator => CLIENT,
        Owner::Several => RUN_QUEUE,
        Owner::Database => POOL_WAIT,
        Owner::Nobody => UNEXPLAINED,
    }
}

/// Whether all connections to the database are held and more requests are under way: the pool's queue, seen without
/// its metrics.
fn is_pool_full_from_outside(scene: &Scene<'_>) -> bool {
    let (Some(size), Some(sessions), None) = (scene.db_sockets, scene.sessions, scene.pool.wait) else { return false };
    sessions.held() >= 0.8 * size && scene.step.in_flight_mean > 1.2 * size
}

impl Budget {
    /// The part in milliseconds; zero if it has none.
    pub(crate) fn part(&self, part: &str) -> f64 {
        self.parts.get(part).copied().unwrap_or(0.0)
    }

    /// The share of the growth of the total since `light` that `parts` own; of the total itself if there is nothing
    /// to compare with or it hardly grew.
    pub(crate) fn owned(&self, parts: &[&str], light: Option<&Self>) -> f64 {
        let sum = |budget: &Self| parts.iter().map(|part| budget.part(part)).sum::<f64>();
        let grown = light.map(|light| (sum(self) - sum(light), self.total_ms - light.total_ms));
        let (owned, all) = match grown {
            Some((owned, all)) if all > 0.1 * self.total_ms => (owned, all),
            _ => (sum(self), self.total_ms),
        };
        if all > 0.0 { (owned / all).clamp(0.0, 1.0) } else { 0.0 }
    }
}
