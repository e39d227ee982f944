//! `svc.cpu`: the service uses all the CPU it may use, mostly for its own code.

use model::finding::Lever;
use model::signal;

use super::{Candidate, Judged, Kind, Rule, cores};
use crate::budget::{ACCEPT, CONNECT, RUN_QUEUE, SERVICE_CPU, SERVICE_QUEUE};
use crate::case::Case;
use crate::lever::{Change, Outlook};
use crate::owner::Owner;
use crate::phrase;
use crate::station::service_id;

pub(super) const RULE: Rule = Rule { id: "svc.cpu", kind: Kind::Station, parts: PARTS, judge, levers };

/// Where a request waits when the service has no CPU left.
pub(super) const PARTS: &[&str] = &[SERVICE_CPU, SERVICE_QUEUE, RUN_QUEUE, ACCEPT, CONNECT];

fn judge(case: &Case<'_>) -> Judged {
    judge_as("svc.cpu", case, |case| {
        format!(
            "At {} {} keeps all the CPU it may use busy: {} of {} cores, {} of CPU per request, so at most {}. Cheaper \
             requests or more cores would move the line.",
            case.users(),
            case.here.service.name,
            phrase::cores(case.here.service.run.unwrap_or(0.0)),
            phrase::cores(case.here.cores_of(&case.here.service).unwrap_or(0.0)),
            phrase::seconds(case.per_request(case.here.service.run).unwrap_or(0.0)),
            phrase::rate(bound(case)),
        )
    })
}

/// The judgement that `svc.cpu` and `svc.kernel` share; they differ in where the CPU time goes.
pub(super) fn judge_as(id: &str, case: &Case<'_>, sentence: fn(&Case<'_>) -> String) -> Judged {
    let service = &case.here.service;
    let (Some(run), Some(available)) = (service.run, case.here.cores_of(service)) else { return Judged::NotSeen };
    let used = format!("{} runs on {} of {} cores", service.name, phrase::cores(run), phrase::cores(available));
    if case.owner != Owner::Service {
        let shared = match case.owner {
            Owner::Several => ", the machine is full with the work of several",
            Owner::Database => ", the database fills the machine",
            Owner::Generator => ", the generator fills what it has",
            Owner::Nobody | Owner::Service => "",
        };
        return Judged::RuledOut(format!("{used}{shared}"));
    }
    let kernel = service.kernel_share();
    if service_id(&case.here) != id {
        let share = phrase::percent(kernel.unwrap_or(0.0));
        return Judged::RuledOut(format!("{share} of the service's CPU time is spent in the kernel"));
    }
    let mut proof = vec![cores(signal::RUN, run, format!("{used}, all it may use"))];
    if let Some(wait) = service.wait {
        let says =
            format!("and waits for a core {} of its ready time", phrase::percent(service.stolen().unwrap_or(0.0)));
        proof.push(cores(signal::RUN_WAIT, wait, says));
    }
    if let (Some(user), Some(system)) = (service.user, service.system) {
        proof.push(cores(signal::CPU_USER, user, "in its own code"));
        proof.push(cores(signal::CPU_SYSTEM, system, "in the kernel on its behalf"));
    }
    for (party, whose) in [(&case.here.generator, "the generator"), (&case.here.database, "the database")] {
        if let Some(run) = party.run {
            let share = phrase::percent(case.here.share_of(party));
            proof.push(cores(signal::RUN, run, format!("{whose} takes {share} of the busy cores")));
        }
    }
    Judged::Candidate(Candidate {
        subject: service.name.clone(),
        is_full: true,
        evidence: proof,
        sentence: sentence(case),
        words: used,
        ..Candidate::default()
    })
}

/// What the service's cores carry, by their demand per request.
pub(super) fn bound(case: &Case<'_>) -> f64 {
    let per_request = case.per_request(case.here.service.run).unwrap_or(f64::INFINITY);
    case.here.cores_of(&case.here.service).unwrap_or(0.0) / per_request
}

/// Levers of a service whose cores are full.
pub(super) fn levers(case: &Case<'_>, outlook: &Outlook) -> Vec<Lever> {
    let id = service_id(&case.here);
    let (Some(bound), Some(available)) = (outlook.bound(id), case.here.cores_of(&case.here.service)) else {
        return Vec::new();
    };
    // Half the work also relieves the machine; twice the cores only help where the machine has them.
    let confined = case.here.is_confined(&case.here.service);
    let run = case.here.service.run.unwrap_or(0.0);
    let machine = outlook.bound("host.contention");
    let ours = case.here.ours();
    let relieved = machine.map(|bound| ("host.contention", bound * ours / (ours - run / 2.0)));
    let larger = if confined { None } else { machine.map(|bound| ("host.contention", bound * 2.0)) };
    let mut levers = vec![
        outlook.helps(Change {
            id: "svc.cpu.cost",
            change: "half the CPU per request".into(),
            factor: 2.0,
            bounds: [(id, bound * 2.0)].into_iter().chain(relieved).collect(),
            says: format!(
                "Each request costs {} of CPU; the throughput is cores divided by that.",
                phrase::seconds(case.per_request(case.here.service.run).unwrap_or(0.0))
            ),
        }),
        outlook.helps(Change {
            id: "svc.cores",
            change: format!("cores for the service {} -> {}", phrase::cores(available), phrase::cores(available * 2.0)),
            factor: 2.0,
            bounds: [(id, bound * 2.0)].into_iter().chain(larger).collect(),
            says: "As long as its threads do not wait for each other, cores add up.".into(),
        }),
    ];
    if let (Some(size), Some(in_use)) = (case.here.pool_size(), case.here.pool_in_use()) {
        levers.push(outlook.useless(
            "db.pool.size",
            format!("pool {} -> {}", phrase::count(size), phrase::count(size * 2.0)),
            format!(
                "{} of {} connections are in use; requests wait for the service's CPU.",
                phrase::number(in_use),
                phrase::count(size)
            ),
        ));
    }
    levers
}
