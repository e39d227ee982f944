//! Who owns the CPU that is full. One decision for all rules about CPU, so that they cannot contradict each other.
//!
//! On a small machine generator, service and database share the cores, so "the machine is full" names nobody. The
//! table below is walked from the top; the first line that holds decides. "Full" is ≥ 95 % busy, or ≥ 85 % while two of
//! our parties are starved.
//!
//! | | condition | owner |
//! |---|---|---|
//! | 1 | the database may use fewer cores than there are and runs on ≥ 0.9 of them | database |
//! | 2 | the service may use fewer cores than there are and runs on ≥ 0.9 of them | service |
//! | 2a | the generator may use fewer cores than there are and runs on ≥ 0.9 of them | generator |
//! | 3 | the machine is not full: whoever runs on ≥ 0.9 of its own cores – database, service – or, for the generator, is never idle (run + wait ≥ 0.9 of what it can use: something holds it back) | that party, else nobody |
//! | 4 | machine full; the generator is never idle, neither service nor database is, nor one thread of the service; and it takes ≥ 60 %, or nobody else is starved | generator |
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
    if scene.is_confined(&scene.generator) && scene.fills_its_cores(&scene.generator) {
        return Owner::Generator;
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
    let generator_share = scene.share_of(&scene.generator);
    let busy = scene.host.busy.unwrap_or(0.0);
    let starved = scene.starved_parties();
    match () {
        () if generator_full
            && !(service_full || database_full || service.is_one_thread_full())
            && (generator_share >= MOST || !(service.is_starved() || database.is_starved())) =>
        {
            Owner::Generator
        }
        () if scene.others() >= MAJOR * busy && starved >= 2 => Owner::Several,
        () if generator_share >= MAJOR && (service.is_starved() || database.is_starved()) => Owner::Several,
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

/// Whether cores are short, which may be why acknowledgements come late: then no round trip is proof of a queue on the
/// way. Where packets are lost it is not: waiting for a core loses none.
pub(crate) fn may_delay_acknowledgements(scene: &Scene<'_>) -> bool {
    let short = owner(scene) != Owner::Nobody || scene.service.is_one_thread_full() || scene.is_machine_full();
    short && !scene.link.is_losing()
}

fn is_generator_never_idle(scene: &Scene<'_>) -> bool {
    let Party { demand, .. } = scene.generator;
    matches!((demand, generator_cores(scene)), (Some(demand), Some(cores)) if demand >= DEMAND_FULL * cores)
}

#[cfg(test)]
mod tests {
    use model::signal::*;
    use model::verdict::Phase::Confirm;

    use super::*;
    use crate::sketch::{Level, record};

    /// Cores that ran, were waited for and are allowed.
    type Cpu = (f64, f64, f64);

    fn check(line: &str, host: f64, [generator, service, database]: [Cpu; 3], expected: Owner) {
        let mut level =
            Level::new(Confirm, 100, 1000.0, 100.0).see("host", HOST_CORES, 2.0).see("host", HOST_BUSY, host);
        for (subject, (run, wait, allowed)) in [("gen", generator), ("svc", service), ("db", database)] {
            level = level.see(subject, RUN, run).see(subject, RUN_WAIT, wait).see(subject, CORES_ALLOWED, allowed);
        }
        let record = record(&[level]);
        assert_eq!(owner(&Scene::new(&record, &record.steps[0])), expected, "{line}");
    }

    #[test]
    fn every_line_of_the_table() {
        use Owner::{Database, Generator, Nobody, Service, Several};
        let idle = (0.02, 0.0, 2.0);
        check("1: database confined", 1.5, [(0.3, 0.1, 2.0), (0.2, 0.0, 2.0), (0.95, 3.0, 1.0)], Database);
        check("2: service confined", 2.0, [(0.9, 0.5, 2.0), (0.95, 1.0, 1.0), idle], Service);
        check("2a: generator confined, whoever else is busy", 2.0, [(0.1, 1.0, 0.1), (0.3, 0.5, 2.0), idle], Generator);
        check("3: not full, nobody", 1.0, [(0.4, 0.1, 2.0), (0.5, 0.2, 2.0), idle], Nobody);
        check("3: not full, generator held back", 0.3, [(0.1, 1.9, 2.0), (0.1, 0.0, 2.0), idle], Generator);
        check("4: only the generator wants more", 2.0, [(1.5, 0.5, 2.0), (0.45, 0.1, 2.0), idle], Generator);
        check("4: it takes most", 2.0, [(1.4, 0.6, 2.0), (0.5, 0.4, 2.0), idle], Generator);
        check("4: half each is a fight", 2.0, [(1.05, 0.9, 2.0), (0.9, 0.75, 2.0), idle], Several);
        check("5: others take the cores", 2.0, [(0.2, 0.3, 2.0), (0.8, 1.1, 2.0), idle], Several);
        check("6: the generator takes its share", 2.0, [(0.7, 0.5, 2.0), (1.25, 0.75, 2.0), idle], Several);
        check("6: the same with gaps", 1.8, [(0.6, 0.5, 2.0), (1.15, 0.75, 2.0), idle], Several);
        check("7: database owns it", 2.0, [(0.1, 0.2, 2.0), (0.2, 0.4, 2.0), (1.65, 9.0, 2.0)], Database);
        check("8: service owns it", 2.0, [(0.1, 0.1, 2.0), (1.85, 0.9, 2.0), idle], Service);
        check("9: two are starved", 2.0, [(0.3, 0.3, 2.0), (0.8, 0.9, 2.0), (0.85, 3.0, 2.0)], Several);
        check("10: the larger one", 2.0, [(0.4, 0.0, 2.0), (0.6, 0.1, 2.0), (0.95, 1.0, 2.0)], Database);
    }
}
