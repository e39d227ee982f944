//! `svc.one-core`: one thread of the service is the limit – an event loop, an interpreter lock, a single worker.

use model::finding::Lever;
use model::signal;

use super::{Candidate, Judged, Kind, Rule, cores, evidence, machine};
use crate::budget::{ACCEPT, CONNECT, HELD, POOL_WAIT, RUN_QUEUE, SERVICE_CPU, SERVICE_QUEUE};
use crate::case::Case;
use crate::lever::{Change, Outlook};
use crate::phrase;

pub(super) const RULE: Rule = Rule {
    id: "svc.one-core",
    kind: Kind::Station,
    // A loop that is always busy also takes up late what the database has long answered.
    parts: &[SERVICE_CPU, SERVICE_QUEUE, RUN_QUEUE, POOL_WAIT, HELD, ACCEPT, CONNECT],
    judge,
    levers,
};

fn judge(case: &Case<'_>) -> Judged {
    let service = &case.here.service;
    let (Some(demand), Some(run)) = (service.busiest_demand, service.busiest_run) else { return Judged::NotSeen };
    let available = case.here.cores_of(service).unwrap_or(1.0);
    if !service.is_one_thread_full() {
        let because = match service.demand {
            Some(whole) if demand >= 0.95 => format!(
                "no thread stands out: the busiest needs {} of the {} cores that all threads need",
                phrase::cores(demand),
                phrase::cores(whole)
            ),
            _ => format!("its busiest thread needs {} of a core", phrase::cores(demand)),
        };
        return Judged::RuledOut(because);
    }
    if available < 1.5 {
        return Judged::RuledOut(format!(
            "the service may only use {} of a core: one thread is all it can run",
            phrase::cores(available)
        ));
    }
    if case.here.is_machine_full() && service.is_starved() {
        return Judged::RuledOut(format!(
            "its busy thread got only {} of a core and waited for the rest: the machine is full",
            phrase::cores(run)
        ));
    }
    let idle = case.here.host.cores.zip(case.here.host.busy).map(|(cores, busy)| (cores - busy).max(0.0));
    let per_request = run / case.here.rate().unwrap_or(f64::INFINITY);
    let mut proof = vec![
        evidence(
            signal::THREAD_BUSIEST_DEMAND,
            demand,
            "schedstat",
            "one thread never blocks: it runs or waits for a core",
        ),
        evidence(signal::THREAD_BUSIEST_RUN, run, "schedstat", "share of the time that this thread runs"),
        cores(signal::RUN, service.run.unwrap_or(0.0), "the whole service, all its threads"),
    ];
    let idle_words = idle.map(|idle| {
        proof.push(machine(
            case.here.host.busy.unwrap_or(0.0),
            format!("{} cores of the machine are idle", phrase::cores(idle)),
        ));
        format!(
            " while {} of the machine's {} cores are idle",
            phrase::cores(idle),
            phrase::cores(case.here.host.cores.unwrap_or(0.0))
        )
    });
    let sentence = format!(
        "At {} one thread of {} is always busy (it runs {} of the time and waits for a core {}){}. It spends {} on each request, so it \
         carries at most {}. More worker processes or threads would move the line; more cores alone would not.",
        case.users(),
        service.name,
        phrase::percent(run),
        phrase::percent((demand - run).max(0.0)),
        idle_words.unwrap_or_default(),
        phrase::seconds(per_request),
        phrase::rate(1.0 / per_request),
    );
    Judged::Candidate(Candidate {
        subject: service.name.clone(),
        // A thread of a watched process that never blocks: nothing but its own work makes it so.
        is_hard: demand >= 0.97 && idle.is_some_and(|idle| idle >= 0.5),
        is_full: true,
        evidence: proof,
        sentence,
        words: format!("one thread of {} is always busy", service.name),
        ..Candidate::default()
    })
}

fn levers(case: &Case<'_>, outlook: &Outlook) -> Vec<Lever> {
    let (Some(bound), Some(available)) = (outlook.bound("svc.one-core"), case.here.cores_of(&case.here.service)) else {
        return Vec::new();
    };
    let workers = available.floor().max(2.0);
    let mut levers = vec![
        outlook.helps(Change {
            id: "svc.workers",
            change: format!("workers 1 -> {}", phrase::count(workers)),
            factor: workers,
            bounds: vec![("svc.one-core", bound * workers)],
            says: "Each worker is another thread that can be busy.".into(),
        }),
        outlook.helps(Change {
            id: "svc.cpu.cost",
            change: "half the work per request on that thread".into(),
            factor: 2.0,
            bounds: vec![("svc.one-core", bound * 2.0)],
            says: "Work that moves off the thread no longer counts against it.".into(),
        }),
        outlook.useless(
            "svc.cores",
            "more cores",
            format!("One thread cannot use more than one core, and {} are there.", phrase::cores(available)),
        ),
    ];
    if let Some(size) = case.here.pool_size() {
        levers.push(outlook.useless(
            "db.pool.size",
            format!("pool {} -> {}", phrase::count(size), phrase::count(size * 2.0)),
            "Connections are not what is missing: the thread that would use them is busy.",
        ));
    }
    levers
}
