//! One step in, a diagnosis out: gates, the walk over all stations, the deepest full one, what was ruled out, the time
//! budget, the next bottleneck and the levers.

#[cfg(test)]
mod tests;

use model::finding::{Bottleneck, Certainty, Diagnosis, Evidence, Lever, RuledOut};
use model::record::{RunRecord, StepSpan};
use model::unit::Interval;
use model::verdict::Phase;

use crate::budget::UNEXPLAINED;
use crate::case::Case;
use crate::lever::Outlook;
use crate::phrase;
use crate::rule::{Judged, Kind, RULES, Scored, measured, score};
use crate::station::next;

/// Diagnoses `step`, compared with `baseline` if there is one. Never fails: with nothing to go by it says so.
pub fn diagnose(record: &RunRecord, step: &StepSpan, baseline: Option<&StepSpan>) -> Diagnosis {
    let case = Case::new(record, step, baseline);
    let mut ruled_out = Vec::new();
    let mut candidates = Vec::new();
    for rule in RULES {
        match (rule.judge)(&case) {
            Judged::Candidate(candidate) => candidates.push(score(rule, candidate, &case)),
            Judged::RuledOut(because) => ruled_out.push(RuledOut { id: rule.id.to_owned(), because }),
            Judged::NotSeen => {}
        }
    }
    let winner = choose(candidates, &case, &mut ruled_out);
    let named = winner.scored.rule.id;
    let outlook = Outlook::new(&case, named);
    let mut levers = (winner.scored.rule.levers)(&case, &outlook);
    if winner.scored.rule.kind == Kind::Station {
        add_useless(&case, &outlook, named, &mut levers);
    }
    levers.sort_by(best_first);
    Diagnosis {
        next: next(&case.here, case.light.as_ref(), named),
        levers,
        time_budget_ms: case.budget.parts.clone(),
        caveats: caveats(&case, &winner),
        bottleneck: bottleneck(winner.scored, ruled_out, unanswered(&case)),
    }
}

/// The suspect of the moment for a live line: its id and a few words; `None` if nothing is full. `last` should reach
/// back three seconds or more, since counters need two readings.
pub fn suspect(record: &RunRecord, last: Interval) -> Option<(String, String)> {
    let users = record.windows.last().map_or(0, |window| u64::from(window.users));
    let span = StepSpan { phase: Phase::Probe, users, whole: last, measured: last };
    let case = Case::new(record, &span, None);
    let full = RULES.iter().filter(|rule| rule.kind == Kind::Station).find_map(|rule| match (rule.judge)(&case) {
        Judged::Candidate(candidate) if candidate.is_full && !candidate.is_contradicted => {
            Some((rule.id, candidate.words))
        }
        _ => None,
    });
    full.map(|(id, words)| (id.to_owned(), words))
}

struct Winner {
    scored: Scored,
    /// Another station that is full and owns half of the time as well.
    tie: Option<&'static str>,
}

/// The deepest full station that owns the growth of the response time; ties are kept. The others become ruled out.
fn choose(mut candidates: Vec<Scored>, case: &Case<'_>, ruled_out: &mut Vec<RuledOut>) -> Winner {
    let is_unhurried = case.is_unhurried();
    let rank = |scored: &Scored| match scored.rule.kind {
        Kind::First => 3,
        // What a dying service filled on its way down is not why it died.
        Kind::Station if case.is_dead => 0,
        // What is busy without making anybody wait is not what stops the service.
        Kind::Station if is_unhurried && !scored.candidate.is_hard => 0,
        // A station that is full where hardly anybody waits does not explain why they wait.
        Kind::Station if scored.score >= 2 && scored.is_owner() && scored.is_full_or_hard() => 2,
        Kind::Rest => 1,
        Kind::Station => 0,
    };
    let key = |scored: &Scored| {
        let is_wall = scored.candidate.is_full && scored.is_owner() && !scored.candidate.is_contradicted;
        (rank(scored), is_wall, scored.candidate.is_full && !scored.candidate.is_contradicted)
    };
    // Stable: of equals the first, which is the deepest, stays in front.
    candidates.sort_by_key(|scored| std::cmp::Reverse(key(scored)));
    let mut candidates = candidates.into_iter();
    let scored = candidates.next().expect("the rule `unknown` is always a candidate");
    let mut tie = None;
    for other in candidates.filter(|other| other.rule.kind == Kind::Station) {
        if scored.rule.kind == Kind::Station && other.is_owner() && other.candidate.is_full && tie.is_none() {
            tie = Some(other.rule.id);
        }
        let because = format!("{}, but {}", other.candidate.words, why_not(&scored, &other));
        ruled_out.push(RuledOut { id: other.rule.id.to_owned(), because });
    }
    Winner { scored, tie }
}

fn why_not(winner: &Scored, other: &Scored) -> String {
    match () {
        () if winner.rule.kind == Kind::First => "with one user nothing queues".to_owned(),
        () if other.candidate.is_contradicted => "something deeper keeps it waiting".to_owned(),
        () if !other.is_owner() => format!("that is only {} of the added response time", phrase::percent(other.owned)),
        () if winner.rule.kind == Kind::Rest => "that does not explain it".to_owned(),
        () => format!("{} lies deeper", winner.rule.id),
    }
}

/// Users that no response time speaks of: evidence whatever the bottleneck is.
fn unanswered(case: &Case<'_>) -> Option<Evidence> {
    let users = case.here.step.unanswered?;
    Some(measured("users.unanswered", users, "users", "got no answer for longer than the step"))
}

fn bottleneck(mut scored: Scored, ruled_out: Vec<RuledOut>, unanswered: Option<Evidence>) -> Bottleneck {
    let certainty = scored.certainty();
    scored.candidate.evidence.extend(unanswered);
    Bottleneck {
        id: scored.rule.id.to_owned(),
        subject: scored.candidate.subject,
        certainty,
        sentence: scored.candidate.sentence,
        evidence: scored.candidate.evidence,
        ruled_out,
    }
}

fn caveats(case: &Case<'_>, winner: &Winner) -> Vec<String> {
    let mut caveats = case.here.step.caveats.clone();
    caveats.extend(case.here.step.gate_because.iter().map(|because| format!("at {} {because}", case.users())));
    if let Some(tie) = winner.tie {
        caveats.push(format!(
            "{tie} arrives at the same load as {}: moving only one of them will not go far",
            winner.scored.rule.id
        ));
    }
    let budget = &case.budget;
    let (rest, total) = (budget.part(UNEXPLAINED), budget.total_ms);
    if rest >= 0.4 * total
        && total > 1.0
        && winner.scored.certainty() != Certainty::Unknown
        && winner.scored.rule.kind == Kind::Station
    {
        caveats.push(format!(
            "{} of the response time is unexplained ({} of {})",
            phrase::percent(rest / total),
            phrase::ms(rest),
            phrase::ms(total)
        ));
    }
    let sum: f64 = budget.parts.values().sum();
    if sum > 1.2 * total && total > 0.0 {
        caveats.push("parts of the response time overlap: they add up to more than the whole".to_owned());
    }
    let others = case.here.others();
    if case.here.ours() > 0.0 && others > 0.25 * case.here.host.cores.unwrap_or(f64::INFINITY) {
        caveats.push(format!(
            "other programs and the kernel used {} cores meanwhile: a quiet machine may do better",
            phrase::cores(others)
        ));
    }
    caveats
}

/// What people try first and what does not help here, unless the rule itself has something to say about it.
fn add_useless(case: &Case<'_>, outlook: &Outlook, named: &str, levers: &mut Vec<Lever>) {
    let mut add = |id: &str, change: &str, says: String| {
        if !levers.iter().any(|lever| lever.id == id) {
            levers.push(outlook.useless(id, change, says));
        }
    };
    let listen = case.here.listen;
    if let (Some(queue), Some(backlog)) = (listen.queue_max.or(listen.queue), listen.backlog)
        && named != "net.accept"
    {
        let (queue, backlog) = (phrase::number(queue), phrase::count(backlog));
        add("net.backlog", "a longer accept queue", format!("At most {queue} of {backlog} places in it were taken."));
    }
    if let Some(busiest) = case.here.service.busiest_demand
        && named != "svc.one-core"
    {
        let says = match named {
            "svc.cpu" | "svc.kernel" | "host.contention" => "The threads there already wait for cores.".to_owned(),
            _ => format!("No thread is short: the busiest needs {} of a core.", phrase::cores(busiest)),
        };
        add("svc.workers", "more workers or threads", says);
    }
}

/// Helpful levers first, the larger gain before the smaller.
fn best_first(a: &Lever, b: &Lever) -> std::cmp::Ordering {
    b.helps.cmp(&a.helps).then(b.rate_per_s.unwrap_or(0.0).total_cmp(&a.rate_per_s.unwrap_or(0.0)))
}
