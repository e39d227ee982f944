//! `db.cpu`: the database has no CPU left.

use model::finding::Lever;
use model::signal;

use super::{Candidate, Judged, Kind, Rule, cores, evidence};
use crate::budget::{DATABASE, POOL_WAIT};
use crate::case::Case;
use crate::lever::{Change, Outlook};
use crate::owner::Owner;
use crate::phrase;
use crate::scene::Scene;

pub(super) const RULE: Rule = Rule { id: "db.cpu", kind: Kind::Station, parts: &[DATABASE, POOL_WAIT], judge, levers };

/// Share of the time of busy sessions that they compute or wait for a core: PostgreSQL's processes by the scheduler,
/// over sessions that execute. `None` if one of both was not seen.
pub(super) fn computing_share(scene: &Scene<'_>) -> Option<f64> {
    let busy = scene.sessions?.busy();
    (busy > 0.05).then_some(scene.database.demand? / busy).map(|share| share.min(1.0))
}

fn judge(case: &Case<'_>) -> Judged {
    let database = &case.here.database;
    let (Some(run), Some(available)) = (database.run, case.here.cores_of(database)) else { return Judged::NotSeen };
    if case.owner != Owner::Database {
        return Judged::RuledOut(format!(
            "{} runs on {} of {} cores",
            database.name,
            phrase::cores(run),
            phrase::cores(available)
        ));
    }
    let per_request = case.per_request(database.run).unwrap_or(0.0);
    let stolen = database.stolen().unwrap_or(0.0);
    let computing = computing_share(&case.here);
    let mut proof = vec![
        cores(
            signal::RUN,
            run,
            format!("{} runs on {} of {} cores", database.name, phrase::cores(run), phrase::cores(available)),
        ),
        cores(
            signal::RUN_WAIT,
            database.wait.unwrap_or(0.0),
            format!("its sessions wait {} of their ready time for a core", phrase::percent(stolen)),
        ),
    ];
    if let Some(sessions) = case.here.sessions {
        let says =
            format!("of {} busy sessions this many execute and wait for nothing else", phrase::number(sessions.busy()));
        proof.push(evidence(signal::PG_ACTIVE_CPU, sessions.cpu, sessions.source, says));
    }
    let sentence = format!(
        "At {} {} has no CPU left: it runs on {} of {} cores, {} per request, and its sessions wait {} of their ready \
         time for a core. Cheaper queries or more cores for it would move the line; a larger pool only adds waiting.",
        case.users(),
        database.name,
        phrase::cores(run),
        phrase::cores(available),
        phrase::seconds(per_request),
        phrase::percent(stolen),
    );
    Judged::Candidate(Candidate {
        subject: database.name.clone(),
        // Backends that wait for a core while they execute: a pool, a lock or a disk does not make them.
        is_hard: stolen >= 0.2 && computing.is_some_and(|share| share >= 0.5),
        is_full: true,
        is_contradicted: case.here.sessions.is_some_and(|sessions| sessions.lock > 0.5 * sessions.busy()),
        evidence: proof,
        sentence,
        words: format!("{} computes on {} of {} cores", database.name, phrase::cores(run), phrase::cores(available)),
        ..Candidate::default()
    })
}

fn levers(case: &Case<'_>, outlook: &Outlook) -> Vec<Lever> {
    let mut levers = Vec::new();
    let Some(bound) = outlook.bound("db.cpu") else { return levers };
    let database = &case.here.database;
    let (run, service, generator) =
        (database.run.unwrap_or(0.0), case.here.service.run.unwrap_or(0.0), case.here.generator.run.unwrap_or(0.0));
    // Halving the database's work leaves the others' demand on a shared machine as it is.
    let shared = outlook
        .bound("host.contention")
        .map(|host| host * (run + service + generator) / (run / 2.0 + service + generator));
    let mut bounds = vec![("db.cpu", bound * 2.0)];
    bounds.extend(shared.map(|bound| ("host.contention", bound)));
    levers.push(outlook.helps(Change {
        id: "db.query.cost",
        change: "half the CPU per request in the database (index, cheaper statement, cache)".into(),
        factor: 2.0,
        bounds: bounds.clone(),
        says: format!(
            "Each request costs {} of database CPU; the throughput is cores divided by that.",
            phrase::seconds(case.per_request(database.run).unwrap_or(0.0))
        ),
    }));
    levers.push(outlook.helps(Change {
        id: "svc.cache",
        change: "half of the reads from a cache".into(),
        factor: 2.0,
        bounds: bounds.clone(),
        says: "A request that the cache answers does not come to the database.".into(),
    }));
    if let Some(available) = case.here.cores_of(database) {
        let machine = outlook.bound("host.contention").map(|bound| ("host.contention", bound * 2.0));
        levers.push(outlook.helps(Change {
            id: "db.cores",
            change: format!("database cores {} -> {}", phrase::cores(available), phrase::cores(available * 2.0)),
            factor: 2.0,
            bounds: [("db.cpu", bound * 2.0)].into_iter().chain(machine).collect(),
            says: "Queries of different users run side by side, so cores add up.".into(),
        }));
    }
    if let Some(size) = case.here.pool_size() {
        levers.push(outlook.useless(
            "db.pool.size",
            format!("pool {} -> {}", phrase::count(size), phrase::count(size * 2.0)),
            "The sessions there are already wait for a core: more of them wait longer and do no more work.",
        ));
    }
    levers
}
