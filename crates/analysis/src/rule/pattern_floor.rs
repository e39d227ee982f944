//! `pattern.floor`: the promise fails with a single user. No load is to blame; the time of one request is.

use model::finding::Lever;
use model::verdict::Judgement;

use super::{Candidate, Judged, Kind, Rule, measured};
use crate::budget::{self, DATABASE, SERVICE_CPU, UNEXPLAINED};
use crate::case::Case;
use crate::lever::Outlook;
use crate::phrase;
use crate::step::{LatencyLimit, latency_limit};

pub(super) const RULE: Rule = Rule { id: "pattern.floor", kind: Kind::First, parts: &[], judge, levers };

fn judge(case: &Case<'_>) -> Judged {
    let step = &case.here.step;
    if step.span.users > 1 || step.promise != Judgement::Fail {
        let light = case.light.as_ref().unwrap_or(&case.here);
        let light = &light.step;
        return if light.windows == 0 || light.promise == Judgement::Fail {
            Judged::NotSeen
        } else {
            Judged::RuledOut(format!(
                "{} got answers in {} (90th percentile)",
                phrase::users(light.span.users),
                phrase::ms(light.latency_ms.p90)
            ))
        };
    }
    let (sentence, words) = match broken_limit(case) {
        Some(limit) => {
            let sentence = format!(
                "No load is to blame: a single user already waits {} where {} were promised. Its mean {} are {}. There \
                 is no queue to shorten; the request itself must get faster.",
                phrase::ms(step.promised_latency_ms(limit)),
                phrase::ms(limit.limit_ms),
                phrase::ms(case.budget.total_ms),
                largest_parts(case),
            );
            (sentence, "too slow for a single user")
        }
        // How long a wrong answer takes says nothing about the right one.
        None => {
            let broken = step.worst().map(|fact| fact.text.clone()).unwrap_or_default();
            let cause = step.main_cause().map_or_else(String::new, |cause| format!(" with `{cause}`"));
            let sentence = format!(
                "No load is to blame: a single user already breaks `{broken}`: {} of its requests failed{cause}. {}",
                phrase::percent(step.failed_share()),
                what_to_do(step.main_cause().unwrap_or_default()),
            );
            (sentence, "failing for a single user")
        }
    };
    Judged::Candidate(Candidate {
        subject: case.here.service.name.clone(),
        is_hard: true,
        is_full: true,
        owns_all: true,
        evidence: vec![
            measured("http_req_duration", step.latency_ms.p90, "ms", "90th percentile with one user"),
            measured("http_req_failed", step.failed_share(), "share", "requests that failed with one user"),
        ],
        sentence,
        words: words.to_owned(),
        ..Candidate::default()
    })
}

/// Where to look for the reason why even one user fails.
fn what_to_do(cause: &str) -> &'static str {
    match cause {
        "status 401" | "status 403" => {
            "The requests lack what the service wants of a visitor: a script can send headers, cookies or a login."
        }
        "status 404" | "status 405" => "Check the URL and the method: the service does not know them.",
        _ => "What is asked for, or the service that answers, must be put right before its capacity can be found.",
    }
}

/// The promise about latency, if it is what breaks.
fn broken_limit(case: &Case<'_>) -> Option<LatencyLimit> {
    let plan = case.here.record.plan.as_ref()?;
    let broken = case.here.step.worst().is_some_and(|fact| fact.text.starts_with("http_req_duration"));
    latency_limit(&plan.promises).filter(|_| broken)
}

fn largest_parts(case: &Case<'_>) -> String {
    let mut parts: Vec<_> = case
        .budget
        .parts
        .iter()
        .filter(|(name, ms)| **ms >= 0.02 * case.budget.total_ms || *name == UNEXPLAINED)
        .collect();
    parts.sort_by(|a, b| b.1.total_cmp(a.1));
    let words: Vec<_> =
        parts.into_iter().take(4).map(|(name, ms)| format!("{} {}", phrase::ms(*ms), budget::words(name))).collect();
    phrase::list(&words)
}

fn levers(case: &Case<'_>, outlook: &Outlook) -> Vec<Lever> {
    let share = |part| case.budget.part(part) / case.budget.total_ms.max(1e-9);
    let mut levers = Vec::new();
    if broken_limit(case).is_none() {
        return levers;
    }
    let parts = [
        ("db.query.time", DATABASE, "faster queries"),
        ("svc.cpu.cost", SERVICE_CPU, "less work per request"),
        ("svc.hold.time", UNEXPLAINED, "less waiting inside the service"),
    ];
    for (id, part, change) in parts {
        let says = format!("{} of the response time is {}.", phrase::percent(share(part)), budget::words(part));
        let lever = outlook.useless(id, change, says);
        if share(part) >= 0.3 {
            levers.push(Lever { helps: true, rate_per_s: None, ..lever });
        } else if share(part) < 0.1 && case.here.service.is_seen() {
            levers.push(lever);
        }
    }
    for (id, change) in [("svc.cores", "more cores"), ("svc.workers", "more workers")] {
        let says = "One user waits for one request: more of them serve more users, not faster answers.";
        levers.push(outlook.useless(id, change, says));
    }
    levers
}
