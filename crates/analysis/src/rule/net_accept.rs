//! `net.accept`: the accept queue of the listening socket overflows; the kernel turns connections away.

use model::finding::{Evidence, Lever};
use model::signal;

use super::{Candidate, Judged, Kind, Rule, cores, evidence, measured};
use crate::budget::{ACCEPT, CONNECT};
use crate::case::Case;
use crate::lever::{Change, Outlook};
use crate::owner::Owner;
use crate::phrase;

pub(super) const RULE: Rule = Rule { id: "net.accept", kind: Kind::Station, parts: &[CONNECT, ACCEPT], judge, levers };

/// Turned away per second from which on it matters.
const OVERFLOWS_MIN: f64 = 0.5;
/// Share of the places that are taken on average, from which on the queue is full without turning anybody away yet.
const CROWDED: f64 = 0.8;

fn judge(case: &Case<'_>) -> Judged {
    let (scene, listen) = (&case.here, case.here.listen);
    let queue = listen.queue_max.or(listen.queue);
    let Some(overflows) = listen.overflows_per_s else {
        return match (queue, listen.backlog) {
            (Some(queue), Some(backlog)) if queue < backlog => Judged::RuledOut(waiting(queue, backlog)),
            _ => Judged::NotSeen,
        };
    };
    // The counter is that of the whole name space: with an empty queue somebody else's listener overflowed.
    if queue.is_some_and(|queue| queue < 1.0) {
        return Judged::RuledOut("nothing waited to be accepted".to_owned());
    }
    let opens = scene.step.connections_per_s > 0.5 * scene.step.rate_per_s;
    let is_crowded =
        opens && matches!((listen.queue, listen.backlog), (Some(mean), Some(backlog)) if mean >= CROWDED * backlog);
    if overflows < OVERFLOWS_MIN && !is_crowded {
        let waiting = queue.zip(listen.backlog).map(|(queue, backlog)| format!(", {}", waiting(queue, backlog)));
        return Judged::RuledOut(format!(
            "{} connections/s were turned away{}",
            phrase::number(overflows),
            waiting.unwrap_or_default()
        ));
    }
    let is_full = is_crowded || matches!((queue, listen.backlog), (Some(queue), Some(backlog)) if queue >= backlog);
    // A service that is stuck does not accept either: then the queue is a symptom. One that hardly wants a core is not
    // stuck because others fight for them.
    let stuck = match case.owner {
        Owner::Service | Owner::Database => true,
        Owner::Several => scene.service.wants_cores(),
        Owner::Nobody | Owner::Generator => false,
    } || scene.service.is_one_thread_full();
    let name = &scene.service.name;
    Judged::Candidate(Candidate {
        subject: if name.is_empty() { "the service's listening socket".to_owned() } else { name.clone() },
        is_hard: overflows >= OVERFLOWS_MIN,
        is_full,
        is_contradicted: stuck,
        also_owns: &[],
        owns_all: all_errors_are_dials(case),
        evidence: proof(case, overflows),
        sentence: sentence(case, overflows),
        words: format!(
            "{} connections/s turned away, {} wait to be accepted",
            phrase::number(overflows),
            phrase::number(queue.unwrap_or(0.0))
        ),
    })
}

fn proof(case: &Case<'_>, overflows: f64) -> Vec<Evidence> {
    let (scene, listen) = (&case.here, case.here.listen);
    let says = "connections turned away per second at a full accept queue";
    let mut proof = vec![evidence(signal::LISTEN_OVERFLOWS, overflows, "netstat", says)];
    proof[0].unit = "events/s".to_owned();
    if let (Some(queue), Some(backlog)) = (listen.queue_max.or(listen.queue), listen.backlog) {
        let says = format!("connections wait to be accepted; {} may", phrase::count(backlog));
        proof.push(evidence(signal::LISTEN_QUEUE_MAX, queue, "sock_diag", says));
    }
    proof.push(measured("http_req_connecting", scene.step.connecting_ms, "ms", "mean time to connect"));
    if let Some(run) = scene.service.run {
        proof.push(cores(signal::RUN, run, "cores the service uses meanwhile"));
    }
    proof
}

fn sentence(case: &Case<'_>, overflows: f64) -> String {
    let (scene, listen) = (&case.here, case.here.listen);
    let idle = match scene.service.run.zip(scene.cores_of(&scene.service)) {
        Some((run, available)) => format!(
            " The service itself uses {} of {} cores; it takes {} connections per second.",
            phrase::cores(run),
            phrase::cores(available),
            phrase::number(scene.step.connections_per_s)
        ),
        None => String::new(),
    };
    let backlog = listen.backlog.map_or_else(|| "unknown length".to_owned(), phrase::count);
    let what = if overflows >= OVERFLOWS_MIN {
        format!(
            "the kernel turns away {} connection attempts per second: the service asked for a queue of {backlog} and it \
             is full.",
            phrase::number(overflows)
        )
    } else {
        let mean = phrase::number(listen.queue.unwrap_or(0.0));
        format!("{mean} connections wait to be accepted all the time, in a queue of {backlog}.")
    };
    format!(
        "At {} {what}{idle} Kept connections, or taking connections faster, would move the line; a longer queue only \
         absorbs bursts.",
        case.users(),
    )
}

fn waiting(queue: f64, backlog: f64) -> String {
    format!("at most {} of {} places in the accept queue were taken", phrase::number(queue), phrase::count(backlog))
}

/// Whether what failed, failed at connecting.
fn all_errors_are_dials(case: &Case<'_>) -> bool {
    let errors = &case.here.step.errors;
    let at_dial = |cause: &str| ["dial", "connect", "reset"].iter().any(|word| cause.contains(word));
    !errors.is_empty() && errors.keys().all(|cause| at_dial(cause))
}

fn levers(case: &Case<'_>, outlook: &Outlook) -> Vec<Lever> {
    let scene = &case.here;
    let unknown = |lever: Lever, helps| Lever { helps, rate_per_s: None, ..lever };
    let keeps = scene.step.connections_per_s < 0.1 * scene.step.rate_per_s;
    let mut levers = Vec::new();
    if !keeps {
        levers.push(unknown(
            outlook.useless(
                "gen.keepalive",
                "keep connections open",
                format!("Today {} connections are opened per second for {}; a kept connection passes the accept queue once.", phrase::number(scene.step.connections_per_s), phrase::rate(scene.step.rate_per_s)),
            ),
            true,
        ));
    }
    levers.push(outlook.helps(Change {
        id: "svc.accept.rate",
        change: "connections taken twice as fast".into(),
        factor: 2.0,
        bounds: vec![("net.accept", outlook.rate_now * 2.0)],
        says: "What waits is whoever takes connections out of the queue: a second one, or less work before the next accept.".into(),
    }));
    // A queue that is full on average is not short of places but of somebody who empties it.
    let steady =
        matches!((scene.listen.queue, scene.listen.backlog), (Some(mean), Some(backlog)) if mean >= 0.5 * backlog);
    let backlog = scene.listen.backlog.unwrap_or(0.0);
    let change = format!("backlog {} -> {}", phrase::count(backlog), phrase::count((backlog * 8.0).max(128.0)));
    levers.push(if steady {
        outlook.useless("net.backlog", change, "The queue is full all the time, so a longer one makes users wait instead of turning them away; the service takes no more connections than before.")
    } else {
        unknown(outlook.useless("net.backlog", change, "The queue is full only at times: a longer one absorbs these bursts (the smaller of backlog and somaxconn counts)."), true)
    });
    if let (Some(run), Some(available)) = (scene.service.run, scene.cores_of(&scene.service)) {
        levers.push(outlook.useless(
            "svc.cores",
            "more cores",
            format!("The service uses {} of {} cores.", phrase::cores(run), phrase::cores(available)),
        ));
    }
    levers
}
