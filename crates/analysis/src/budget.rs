//! The time budget: where the mean time of a request goes, in milliseconds, with the unexplained rest always said.

use std::collections::BTreeMap;

use crate::owner::{Owner, generator_cores, may_delay_acknowledgements, owner};
use crate::scene::{Party, Scene};

/// Share of its cores that a party runs on or waits for, from which on a queue may stand in front of it.
const HUNGRY: f64 = 0.6;

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
    if let Some(wait) = scene.link_wait_ms().filter(|_| !may_delay_acknowledgements(scene)) {
        // An acknowledgement rides on the answer, so the round trip holds what is accounted for above, too.
        let explained: f64 = parts.values().sum();
        let link = wait.min(step.wait_ms() - explained).max(0.0);
        parts.insert(LINK.to_owned(), link);
    }
}

/// The part in front of the full station, if there is one.
fn full_station(scene: &Scene<'_>) -> &'static str {
    if is_pool_full_from_outside(scene) {
        return POOL_WAIT;
    }
    if scene.link_wait_ms().is_some() && scene.link.is_losing() {
        // The time until a lost packet is sent again is no part of any round trip.
        return LINK;
    }
    match owner(scene) {
        Owner::Service => SERVICE_QUEUE,
        _ if scene.service.is_one_thread_full() => SERVICE_QUEUE,
        Owner::Generator => CLIENT,
        Owner::Several => in_the_fight(scene),
        Owner::Database => POOL_WAIT,
        Owner::Nobody => UNEXPLAINED,
    }
}

/// Where requests queue while several fight for the cores: in front of whoever wants them most of the time. If all of
/// them are content most of the time, the fight is not what requests wait for.
fn in_the_fight(scene: &Scene<'_>) -> &'static str {
    let wants = |party: &Party, cores: Option<f64>| {
        party.demand.or(party.run).zip(cores).map_or(0.0, |(demand, cores)| demand / cores)
    };
    let (service, database) = (&scene.service, &scene.database);
    let queues = [
        (RUN_QUEUE, wants(service, scene.cores_of(service))),
        (POOL_WAIT, wants(database, scene.cores_of(database))),
        (CLIENT, wants(&scene.generator, generator_cores(scene))),
    ];
    let hungry = queues.into_iter().filter(|(_, wants)| *wants >= HUNGRY);
    hungry.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(UNEXPLAINED, |(part, _)| part)
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

#[cfg(test)]
mod tests {
    use model::signal;
    use model::verdict::Phase::{Baseline, Confirm};

    use super::*;
    use crate::sketch::{Level, record};

    fn of(level: Level) -> Budget {
        let record = record(&[level]);
        budget(&Scene::new(&record, &record.steps[0]))
    }

    fn check(budget: &Budget, part: &str, expected: f64) {
        let seen = budget.part(part);
        assert!((seen - expected).abs() <= 0.02 * expected + 0.05, "{part} is {seen}, not {expected}: {budget:?}");
    }

    #[test]
    fn parts_follow_from_littles_law_and_add_up() {
        let level =
            Level::new(Confirm, 50, 236.0, 211.9).see("svc", signal::RUN, 0.11).see("svc", signal::RUN_WAIT, 0.05);
        let level = level.see("svc", signal::POOL_WAIT, 45.0).see("svc", signal::POOL_USE, 4.86).see(
            "db",
            signal::PG_ACTIVE_OTHER,
            4.0,
        );
        let budget = of(level);
        check(&budget, POOL_WAIT, 190.7);
        check(&budget, DATABASE, 16.9);
        check(&budget, HELD, 3.6);
        check(&budget, SERVICE_CPU, 0.47);
        check(&budget, RUN_QUEUE, 0.21);
        check(&budget, UNEXPLAINED, 0.0);
        assert!((budget.parts.values().sum::<f64>() - budget.total_ms).abs() < 0.5);
    }

    #[test]
    fn the_rest_is_only_explained_by_a_station_that_is_full() {
        let level = |run| {
            Level::new(Confirm, 100, 1000.0, 100.0)
                .see("host", signal::HOST_CORES, 2.0)
                .see("host", signal::HOST_BUSY, run)
                .see("svc", signal::RUN, run)
        };
        check(&of(level(1.9)), SERVICE_QUEUE, 98.1);
        check(&of(level(1.0)), UNEXPLAINED, 99.0);
    }

    #[test]
    fn waiting_to_connect_counts_although_the_response_time_does_not_hold_it() {
        let level = Level::new(Confirm, 60, 20.0, 50.0).connecting(20.0, 2000.0).see("svc", signal::LISTEN_QUEUE, 8.0);
        let budget = of(level);
        assert!((budget.total_ms - 2050.0).abs() < 1.0);
        check(&budget, CONNECT, 2000.0);
        check(&budget, ACCEPT, 400.0);
    }

    #[test]
    fn growth_is_owned_by_what_grew() {
        let light = of(Level::new(Baseline, 1, 50.0, 20.0).see("db", signal::PG_ACTIVE_OTHER, 1.0));
        let loaded = of(Level::new(Confirm, 50, 250.0, 200.0).see("db", signal::PG_ACTIVE_OTHER, 5.0).see(
            "svc",
            signal::POOL_WAIT,
            45.0,
        ));
        assert!((loaded.owned(&[POOL_WAIT], Some(&light)) - 1.0).abs() < 0.01);
        assert!(loaded.owned(&[DATABASE], Some(&light)) < 0.01);
        assert!((loaded.owned(&[DATABASE], None) - 0.1).abs() < 0.01);
    }
}
