//! `svc.kernel`: the service uses all the CPU it may use, and most of it goes into system calls and TCP.

use model::finding::Lever;

use super::svc_cpu::{PARTS, bound, judge_as};
use super::{Judged, Kind, Rule};
use crate::case::Case;
use crate::lever::Outlook;
use crate::phrase;

pub(super) const RULE: Rule = Rule { id: "svc.kernel", kind: Kind::Station, parts: PARTS, judge, levers };

fn judge(case: &Case<'_>) -> Judged {
    judge_as("svc.kernel", case, |case| {
        let service = &case.here.service;
        let share = service.kernel_share().unwrap_or(0.0);
        let per_request = case.per_request(service.run).unwrap_or(0.0);
        format!(
            "At {} {} keeps all the CPU it may use busy, {} of {} cores, and {} of that is the kernel moving its requests \
             and answers: {} of {} CPU per request, so at most {}. Fewer system calls, kept connections or more cores \
             would move the line; faster code of its own hardly.",
            case.users(),
            service.name,
            phrase::cores(service.run.unwrap_or(0.0)),
            phrase::cores(case.here.cores_of(service).unwrap_or(0.0)),
            phrase::percent(share),
            phrase::seconds(per_request * share),
            phrase::seconds(per_request),
            phrase::rate(bound(case)),
        )
    })
}

fn levers(case: &Case<'_>, outlook: &Outlook) -> Vec<Lever> {
    let mut levers = super::svc_cpu::levers(case, outlook);
    let (step, rate) = (&case.here.step, case.here.step.rate_per_s);
    let opened = step.connections_per_s / rate.max(1e-9);
    levers.push(if opened > 0.5 {
        outlook_keepalive(outlook, opened)
    } else {
        outlook.useless(
            "gen.keepalive",
            "keep connections",
            format!("Connections are kept already: {} of the requests open a new one.", phrase::percent(opened)),
        )
    });
    levers
}

/// Opening a connection per request is the first thing to save; by how much was not measured here.
fn outlook_keepalive(outlook: &Outlook, opened: f64) -> Lever {
    Lever {
        helps: true,
        rate_per_s: None,
        ..outlook.useless(
            "gen.keepalive",
            "keep connections open",
            format!(
                "{} of the requests open a new connection, which costs the kernel more than the request.",
                phrase::percent(opened)
            ),
        )
    }
}
