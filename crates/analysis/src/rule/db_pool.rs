//! `db.pool`: the connection pool is too small while the database has room.

use model::finding::{Evidence, Lever};
use model::signal;

use super::db_cpu::computing_share;
use super::{Candidate, Judged, Kind, Rule, cores, evidence, measured};
use crate::budget::{DATABASE, HELD, POOL_WAIT};
use crate::case::Case;
use crate::lever::{Change, Outlook};
use crate::owner::Owner;
use crate::phrase;
use crate::scene::Sessions;
use crate::station::pool_name;

pub(super) const RULE: Rule = Rule { id: "db.pool", kind: Kind::Station, parts: &[POOL_WAIT], judge, levers };

/// Share of the pool in use from which on it is full. Below: it only looks full to those who wait (a busy event loop
/// makes requests pend in front of a pool that is 40 % in use).
const FULL: f64 = 0.8;
/// Share of busy sessions that names what the inside of the use time is.
const MOSTLY: f64 = 0.5;

fn judge(case: &Case<'_>) -> Judged {
    let scene = &case.here;
    let (Some(size), Some(in_use)) = (scene.pool_size(), scene.pool_in_use()) else { return Judged::NotSeen };
    let share = in_use / size;
    if share < FULL {
        return Judged::RuledOut(format!(
            "{} of {} connections are in use ({})",
            phrase::number(in_use),
            phrase::count(size),
            phrase::percent(share)
        ));
    }
    if scene.step.in_flight_mean <= size * 1.05 && scene.pool.pending.is_none_or(|pending| pending < 0.5) {
        return Judged::RuledOut(format!(
            "nobody waits: {} requests share {} connections",
            phrase::number(scene.step.in_flight_mean),
            phrase::count(size)
        ));
    }
    if let Some(because) = inside(case, size) {
        return Judged::RuledOut(because);
    }
    Judged::Candidate(candidate(case, size, in_use))
}

/// What the connections are really held for, if it is not the database simply taking its time.
fn inside(case: &Case<'_>, size: f64) -> Option<String> {
    let sessions = case.here.sessions?;
    let of = |count: f64| format!("{} of {}", phrase::number(count), phrase::count(size));
    if sessions.idle_in_transaction >= MOSTLY * size {
        return Some(format!(
            "it is full because {} connections are open in a transaction while the database waits for the service",
            of(sessions.idle_in_transaction)
        ));
    }
    if sessions.lock >= MOSTLY * sessions.busy() && sessions.lock > 0.5 {
        return Some(format!("it is full because {} sessions wait for locks", of(sessions.lock)));
    }
    if sessions.io >= MOSTLY * sessions.busy() && sessions.io > 0.5 {
        return Some(format!("it is full because {} sessions wait for disk", of(sessions.io)));
    }
    let for_cores = matches!(case.owner, Owner::Database | Owner::Several | Owner::Service);
    if for_cores && computing_share(&case.here).is_none_or(|share| share >= MOSTLY) {
        return Some(format!(
            "it is full because everybody waits for a core: {} sessions compute",
            of(sessions.busy())
        ));
    }
    if for_cores && sessions.busy() < MOSTLY * size {
        return Some(format!(
            "it is full because the service holds connections while it waits for a core: only {} sessions work",
            of(sessions.busy())
        ));
    }
    (sessions.busy() < MOSTLY * size)
        .then(|| format!("its connections are taken and unused: only {} sessions work", of(sessions.busy())))
}

fn candidate(case: &Case<'_>, size: f64, in_use: f64) -> Candidate {
    let scene = &case.here;
    let rate = scene.rate().unwrap_or(f64::INFINITY);
    let (wait_ms, use_ms) = (case.budget.part(POOL_WAIT), in_use / rate * 1e3);
    let waits = scene.pool.pending.is_some_and(|pending| pending >= 1.0)
        || scene.pool.timeouts_per_s.is_some_and(|timeouts| timeouts > 0.0);
    let by_metrics = scene.pool.max.is_some() && waits;
    // Without metrics: the same number of connections while the load grew.
    let flat = case
        .lower
        .iter()
        .filter_map(|level| level.db_sockets)
        .any(|sockets| (sockets - size).abs() <= 0.02 * size + 0.5);
    let by_sockets = scene.db_sockets.is_some() && flat && scene.step.in_flight_mean > 1.2 * size;
    Candidate {
        subject: pool_name(scene),
        // A full pool proves nothing by itself: what happens inside must have been seen.
        is_hard: scene.sessions.is_some() && (by_metrics || by_sockets),
        is_full: true,
        is_contradicted: scene.service.is_one_thread_full() && in_use < 0.9 * size,
        evidence: proof(case, size, in_use),
        sentence: sentence(case, size, wait_ms, use_ms),
        words: format!(
            "{} requests wait for {} database connections",
            phrase::number((scene.step.in_flight_mean - size).max(0.0)),
            phrase::count(size)
        ),
        ..Candidate::default()
    }
}

fn proof(case: &Case<'_>, size: f64, in_use: f64) -> Vec<Evidence> {
    let scene = &case.here;
    let mut proof = Vec::new();
    if let Some(max) = scene.pool.max {
        proof.push(evidence(signal::POOL_MAX, max, "/metrics", "connections the pool may open"));
        proof.push(evidence(
            signal::POOL_USED,
            in_use,
            "/metrics",
            format!("{} of them are in use on average", phrase::number(in_use)),
        ));
    }
    if let Some(pending) = scene.pool.pending {
        proof.push(evidence(signal::POOL_PENDING, pending, "/metrics", "requests wait for a connection"));
    }
    if let Some(sockets) = scene.db_sockets {
        proof.push(evidence(signal::DB_SOCKETS, sockets, "sock_diag", "connections from the service to the database"));
    }
    if let Some(sessions) = scene.sessions {
        let says = format!(
            "{} of {} sessions execute; none of the usual waits stands out",
            phrase::number(sessions.busy()),
            phrase::count(size)
        );
        proof.push(evidence(busiest_state(sessions), sessions.busy(), sessions.source, says));
    }
    if let (Some(run), Some(available)) = (scene.database.run, scene.cores_of(&scene.database)) {
        proof.push(cores(
            signal::RUN,
            run,
            format!(
                "{} has room: it runs on {} of {} cores",
                scene.database.name,
                phrase::cores(run),
                phrase::cores(available)
            ),
        ));
    }
    proof.push(measured(
        "in_flight",
        scene.step.in_flight_mean,
        "requests",
        format!("are under way for {} connections", phrase::count(size)),
    ));
    proof
}

fn busiest_state(sessions: Sessions) -> signal::Signal {
    if sessions.cpu > sessions.other { signal::PG_ACTIVE_CPU } else { signal::PG_ACTIVE_OTHER }
}

fn sentence(case: &Case<'_>, size: f64, wait_ms: f64, use_ms: f64) -> String {
    let scene = &case.here;
    let inside = match (scene.sessions, scene.database.run) {
        (_, Some(run)) => format!("{} itself uses {} of a core.", scene.database.name, phrase::cores(run)),
        (Some(sessions), None) => {
            format!("{} sessions work inside the database, which could do more.", phrase::number(sessions.busy()))
        }
        (None, None) => "What happens inside the database was not seen.".to_owned(),
    };
    let bound = size / use_ms * 1e3;
    format!(
        "At {} every request waits {} for one of {} database connections, then uses it for {}. {inside} {} connections \
         carry at most {}; more of them, or a shorter use, would move the line.",
        case.users(),
        phrase::ms(wait_ms),
        phrase::count(size),
        phrase::ms(use_ms),
        phrase::count(size),
        phrase::rate(bound),
    )
}

fn levers(case: &Case<'_>, outlook: &Outlook) -> Vec<Lever> {
    let scene = &case.here;
    let (Some(size), Some(bound)) = (scene.pool_size(), outlook.bound("db.pool")) else { return Vec::new() };
    let mut levers = Vec::new();
    let larger = larger_pool(scene.record, size, bound, outlook);
    if larger > size {
        levers.push(outlook.helps(Change {
            id: "db.pool.size",
            change: format!("pool {} -> {}", phrase::count(size), phrase::count(larger)),
            factor: larger / size,
            bounds: vec![("db.pool", bound * larger / size)],
            says: format!("{} connections ÷ {} of use each.", phrase::count(larger), phrase::seconds(size / bound)),
        }));
    }
    let held_ms = case.budget.part(DATABASE) + case.budget.part(HELD);
    levers.push(outlook.helps(Change {
        id: "db.query.time",
        change: format!("connection held {} -> {}", phrase::ms(held_ms), phrase::ms(held_ms / 2.0)),
        factor: 2.0,
        bounds: vec![("db.pool", bound * 2.0)],
        says: "A connection that is held half as long serves twice as many requests.".into(),
    }));
    levers.push(outlook.helps(Change {
        id: "svc.cache",
        change: "half of the reads from a cache".into(),
        factor: 2.0,
        bounds: vec![("db.pool", bound * 2.0)],
        says: "A request that the cache answers does not come to the database.".into(),
    }));
    for (id, party, whose) in
        [("svc.cores", &scene.service, "the service"), ("db.cores", &scene.database, "the database")]
    {
        if let (Some(run), Some(available)) = (party.run, scene.cores_of(party)) {
            levers.push(outlook.useless(
                id,
                format!("more cores for {whose}"),
                format!(
                    "It uses {} of {} cores; requests wait for connections, not for cores.",
                    phrase::cores(run),
                    phrase::cores(available)
                ),
            ));
        }
    }
    levers
}

/// A pool that reaches the next bottleneck with a fifth to spare, at most four times the present one, and within what
/// PostgreSQL allows less three reserved sessions.
fn larger_pool(record: &model::record::RunRecord, size: f64, bound: f64, outlook: &Outlook) -> f64 {
    let wanted = outlook.next_bound(&["db.pool"]).map_or(4.0, |next| 1.2 * next.rate_per_s / bound);
    let allowed = record.series.iter().find(|series| series.signal == signal::PG_MAX_CONNECTIONS.name);
    let allowed = allowed.and_then(|series| series.points.last()).map_or(f64::INFINITY, |point| point.value - 3.0);
    (size * wanted.clamp(1.0, 4.0)).ceil().min(allowed)
}
