//! Who owns the CPU that is full. One decision for all rules about CPU, so that they cannot contradict each other.
//!
//! On a small machine generator, service and database share the cores, so "the machine is full" names nobody. The
//! table below is walked from the top; the first line that holds decides.
//!
//! | | condition | owner |
//! |---|---|---|
//! | 1 | the database may use fewer cores than there are and runs on ≥ 0.9 of them | database |
//! | 2 | the service may use fewer cores than there are and runs on ≥ 0.9 of them | service |
//! | 3 | the machine is not full (< 95 %): whoever runs on ≥ 0.9 of its own cores – database, service – or, for the generator, is never idle (run + wait ≥ 0.9 of what it can use: something holds it back) | that party, else nobody |
//! | 4 | machine full; the generator is never idle, neither service nor database is, nor one thread of the service | generator |
//! | 5 | machine full; other programs take ≥ 25 % of the busy cores and two of our parties are starved (wait ≥ 20 % of their ready time) | several |
//! | 6 | machine full; the generator takes ≥ 25 % and service or database is starved | several |
//! | 7 | machine full; the database is never idle and takes ≥ 60 % | database |
//! | 8 | machine full; the service is never idle and takes ≥ 60 % | service |
//! | 9 | machine full; two of our parties are starved | several |
//! | 10 | machine full; the larger of database and service, if it is never idle | that party |
//!
//! "Several" is `host.contention`. One thread that is full while others idle is no owner of the machine: that is
//! `svc.one-core`, which asks this table only whether the thread was starved.

use crate::scene::{Party, Scene};
use crate::step::gate::DEMAND_FULL;

/// Share of the busy cores that makes the generator, or other programs, a party to the fight.
const MAJOR: f64 = 0.25;
/// Share of the busy cores that makes one party the owner.
const MOST: f64 = 0.6;

/// Who fills the cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Nobody,
    Generator,
    Service,
    Database,
    Several,
}

/// Walks the table.
pub(crate) fn owner(scene: &Scene<'_>) -> Owner {
    let (service, database) = (&scene.service, &scene.database);
    if scene.is_confined(database) && scene.fills_its_cores(database) {
        return Owner::Database;
    }
    if scene.is_confined(service) && scene.fills_its_cores(service) {
        return Owner::Service;
    }
    let generator_full = is_generator_never_idle(scene);
    if !scene.is_machine_full() {
        return match () {
            () if scene.fills_its_cores(database) => Owner::Database,
            () if scene.fills_its_cores(service) => Owner::Service,
            () if generator_full => Owner::Generator,
            () => Owner::Nobody,
        };
    }
    let (service_full, database_full) = (scene.is_never_idle(service), scene.is_never_idle(database));
    let (service_share, database_share) = (scene.share_of(service), scene.share_of(database));
    let busy = scene.host.busy.unwrap_or(0.0);
    let starved = [&scene.generator, service, database].into_iter().filter(|party| party.is_starved()).count();
    match () {
        () if generator_full && !service_full && !database_full && !service.is_one_thread_full() => Owner::Generator,
        () if scene.others() >= MAJOR * busy && starved >= 2 => Owner::Several,
        () if scene.share_of(&scene.generator) >= MAJOR && (service.is_starved() || database.is_starved()) => {
            Owner::Several
        }
        () if database_full && database_share >= MOST => Owner::Database,
        () if service_full && service_share >= MOST => Owner::Service,
        () if starved >= 2 => Owner::Several,
        () if database_full && database_share >= service_share => Owner::Database,
        () if service_full => Owner::Service,
        () => Owner::Nobody,
    }
}

/// Cores that the generator can use: its worker threads, and what it is allowed.
pub(crate) fn generator_cores(scene: &Scene<'_>) -> Option<f64> {
    let workers = Some(scene.workers).filter(|workers| *workers > 0.0);
    match (workers, scene.cores_of(&scene.generator)) {
        (Some(workers), Some(cores)) => Some(workers.min(cores)),
        (workers, cores) => workers.or(cores),
    }
}

fn is_generator_never_idle(scene: &Scene<'_>) -> bool {
    let Party { demand, .. } = scene.generator;
    matches!((demand, generator_cores(scene)), (Some(demand), Some(cores)) if demand >= DEMAND_FULL * cores)
}
