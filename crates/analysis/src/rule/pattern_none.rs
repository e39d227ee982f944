//! `pattern.none`: the wall was not reached.

use model::finding::Lever;
use model::verdict::Judgement;

use super::{Candidate, Judged, Kind, Rule, measured};
use crate::case::Case;
use crate::lever::Outlook;
use crate::phrase;
use crate::station::stations;

pub(super) const RULE: Rule = Rule { id: "pattern.none", kind: Kind::Rest, parts: &[], judge, levers };

/// A station that is less full than this is not about to stop anything.
const FREE: f64 = 0.6;

fn judge(case: &Case<'_>) -> Judged {
    let step = &case.here.step;
    let held = step.promise == Judgement::Pass
        || (step.promise == Judgement::Undecided && step.worst().is_none_or(|fact| fact.excess() <= 1.0));
    if !held || step.rate_per_s <= 0.0 {
        let worst = step
            .worst()
            .map(|fact| format!("`{}` was broken by {} of the samples", fact.text, phrase::percent(fact.share)));
        return worst.map_or(Judged::NotSeen, Judged::RuledOut);
    }
    let fullest = stations(&case.here, case.light.as_ref()).into_iter().max_by(|a, b| a.busy.total_cmp(&b.busy));
    if !case.lower.is_empty() && case.growing_from().is_none() {
        return Judged::RuledOut(format!(
            "the throughput no longer grows with the users: {} at {}",
            phrase::rate(step.rate_per_s),
            case.users()
        ));
    }
    let station = match &fullest {
        Some(station) => format!(
            "the fullest station seen is {} ({}) at {}",
            station.subject,
            station.id,
            phrase::percent(station.busy)
        ),
        None => "no station of the service could be watched".to_owned(),
    };
    Judged::Candidate(Candidate {
        subject: case.here.service.name.clone(),
        is_full: fullest.as_ref().is_some_and(|station| station.busy < FREE),
        owns_all: true,
        evidence: vec![
            measured("http_reqs", step.rate_per_s, "requests/s", format!("at {}", case.users())),
            measured("http_req_duration", step.latency_ms.p90, "ms", "90th percentile"),
        ],
        sentence: sentence(case, &station),
        words: "nothing is full".to_owned(),
        ..Candidate::default()
    })
}

fn sentence(case: &Case<'_>, station: &str) -> String {
    let step = &case.here.step;
    let (users, p90, rate) = (case.users(), phrase::ms(step.latency_ms.p90), phrase::rate(step.rate_per_s));
    if step.promises.is_empty() {
        return format!(
            "Nothing that was watched limited this run: {users}, {rate}, {p90} (90th percentile); {station}."
        );
    }
    format!(
        "The wall was not reached: at {users} the promise holds with {p90} (90th percentile) at {rate}, and the \
         throughput still grows with the users; {station}. The service carries at least this many."
    )
}

fn levers(_: &Case<'_>, _: &Outlook) -> Vec<Lever> {
    Vec::new()
}
