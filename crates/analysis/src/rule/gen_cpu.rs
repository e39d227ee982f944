//! `gen.cpu`: the load generator itself ran out of CPU; the service was not the limit.

use model::finding::Lever;
use model::signal;

use super::{Candidate, Judged, Kind, Rule, cores, evidence, measured};
use crate::budget::CLIENT;
use crate::case::Case;
use crate::lever::{Change, Outlook};
use crate::owner::{Owner, generator_cores};
use crate::phrase;
use crate::step::gate;

pub(super) const RULE: Rule = Rule { id: "gen.cpu", kind: Kind::Station, parts: &[CLIENT], judge, levers };

fn judge(case: &Case<'_>) -> Judged {
    let scene = &case.here;
    let (step, generator) = (&scene.step, &scene.generator);
    if let Some(failures) = gate::own_failures(step) {
        return Judged::RuledOut(format!("{failures}, which more CPU does not cure"));
    }
    let available = generator_cores(scene);
    let (Some(run), Some(available)) = (generator.run, available) else {
        return if step.is_green() { Judged::NotSeen } else { late_only(case) };
    };
    let used = format!("ran on {} of {} cores", phrase::cores(run), phrase::cores(available));
    // Late or behind with reading, and nobody else is full: then it is us, whatever the CPU figures say.
    let behind = !step.is_green() && case.owner == Owner::Nobody && !scene.service.is_one_thread_full();
    if case.owner != Owner::Generator && !behind {
        return Judged::RuledOut(format!(
            "the generator {used} and began its work at most {} late (99th percentile)",
            phrase::ms(step.generator.late_ms_p99)
        ));
    }
    let mut proof =
        vec![cores(signal::RUN, run, format!("cores the generator used, of {} it can use", phrase::cores(available)))];
    if let Some(wait) = generator.wait {
        proof.push(cores(signal::RUN_WAIT, wait, "cores it was ready for and did not get"));
    }
    proof.push(measured("late", step.generator.late_ms_p99, "ms", "lateness of its own work, 99th percentile"));
    if let Some(unread) = scene.unread {
        proof.push(evidence(
            signal::UNREAD_SHARE,
            unread,
            "sock_diag",
            "share of connections with an answer that it had not read yet",
        ));
    }
    let unread = scene.unread.filter(|share| *share > gate::UNREAD_SHARE);
    let waiting = unread.map_or_else(String::new, |share| {
        format!(" and {} of the answers were already waiting in its own sockets", phrase::percent(share))
    });
    let needed = generator.demand.unwrap_or(run).max(run);
    let sentence = format!(
        "At {} the load generator was the limit: it needed {} cores and got {} of {}{waiting}. Your service can do at \
         least {}; give the generator more cores or another machine to learn its real limit.",
        case.users(),
        phrase::cores(needed),
        phrase::cores(run),
        phrase::cores(available),
        phrase::rate(step.rate_per_s),
    );
    Judged::Candidate(Candidate {
        subject: "plimsoll".to_owned(),
        is_hard: unread.is_some() || run >= gate::DEMAND_FULL * available || !step.gate_because.is_empty(),
        is_full: true,
        // What a generator measures that lags behind is its own lag, also where no queue of its own could be timed.
        owns_all: behind,
        evidence: proof,
        sentence,
        words: format!("the generator needs {} cores and has {}", phrase::cores(needed), phrase::cores(run)),
        ..Candidate::default()
    })
}

/// The gate is red and the generator's CPU was not watched: all that can be said is what the gate says.
fn late_only(case: &Case<'_>) -> Judged {
    let because = phrase::list(&case.here.step.gate_because);
    Judged::Candidate(Candidate {
        subject: "plimsoll".to_owned(),
        is_hard: true,
        owns_all: true,
        evidence: vec![measured(
            "late",
            case.here.step.generator.late_ms_p99,
            "ms",
            "lateness of its own work, 99th percentile",
        )],
        sentence: format!(
            "At {} the load generator was the limit: {because}. Your service can do at least {}.",
            case.users(),
            phrase::rate(case.here.step.rate_per_s)
        ),
        words: "the generator does not keep up".to_owned(),
        ..Candidate::default()
    })
}

fn levers(case: &Case<'_>, outlook: &Outlook) -> Vec<Lever> {
    let mut levers = Vec::new();
    if let (Some(bound), Some(available)) = (outlook.bound("gen.cpu"), generator_cores(&case.here)) {
        // On a shared machine its second core is somebody else's: only another machine gives it more.
        let bounds = outlook.stations.iter().filter(|station| station.id == "host.contention");
        let change = |id, change: String, says: &str| Change {
            id,
            change,
            factor: 2.0,
            bounds: bounds
                .clone()
                .map(|station| (station.id, f64::INFINITY))
                .chain([("gen.cpu", bound * 2.0)])
                .collect(),
            says: says.to_owned(),
        };
        levers.push(outlook.helps(change(
            "gen.cores",
            format!("generator cores {} -> {}", phrase::cores(available), phrase::cores(available * 2.0)),
            "What it can offer grows with its cores.",
        )));
        levers.push(outlook.helps(change(
            "host.split",
            "generator on another machine".into(),
            "There it has cores of its own.",
        )));
    }
    let run = case.here.service.run.zip(case.here.cores_of(&case.here.service));
    if let Some((run, available)) = run {
        levers.push(outlook.useless(
            "svc.cores",
            "more cores for the service",
            format!("It uses {} of {} cores and was not the limit.", phrase::cores(run), phrase::cores(available)),
        ));
    }
    levers
}
