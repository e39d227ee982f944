//! Everything together: the verdict of a search, also of one that ended early.

#[cfg(test)]
mod tests;

use std::time::Duration;

use model::finding::{Certainty, Diagnosis};
use model::record::{RunRecord, StepSpan};
use model::verdict::{Capacity, CapacityState, Peak, Phase, SCHEMA, Step, Verdict};

use crate::diagnose::diagnose;
use crate::search::{self, Search};
use crate::step;

/// The whole answer of `find`, from whatever the record holds: after a death or a stop, all results so far.
pub fn verdict(record: &RunRecord, search: &Search, duration: Duration) -> Verdict {
    let capacity = search.capacity(record);
    let facts: Vec<_> = record.steps.iter().map(|span| step::measure(record, span)).collect();
    let steps: Vec<Step> = facts.iter().map(step::StepFacts::to_step).collect();
    let diagnosis = conclude(record, &capacity);
    let mut caveats = search::caveats(record, &capacity, search.settings());
    caveats.extend(diagnosis.caveats);
    let unsteady = facts.iter().filter(|facts| facts.span.phase == Phase::Confirm).flat_map(|facts| &facts.caveats);
    caveats.extend(unsteady.cloned());
    caveats.extend(state_caveat(&capacity));
    let mut seen = std::collections::HashSet::new();
    caveats.retain(|caveat| seen.insert(caveat.clone()));
    let plan = record.plan.as_ref();
    Verdict {
        schema: SCHEMA.to_owned(),
        target: plan.map_or_else(String::new, |plan| plan.target.clone()),
        mode: "users".to_owned(),
        duration_s: duration.as_secs_f64(),
        slo: plan.map_or_else(Vec::new, |plan| plan.promises.iter().map(ToString::to_string).collect()),
        peak: peak(&steps),
        capacity,
        bottleneck: diagnosis.bottleneck,
        next: diagnosis.next,
        levers: diagnosis.levers,
        time_budget_ms: diagnosis.time_budget_ms,
        steps,
        caveats,
    }
}

/// Diagnoses the steps that show the wall best, nearest to the line first, and keeps the first that is at least strong,
/// else the surest.
fn conclude(record: &RunRecord, capacity: &Capacity) -> Diagnosis {
    let baseline = record.steps.iter().find(|step| step.phase == Phase::Baseline);
    let spans = worth_diagnosing(record, capacity);
    let Some(first) = spans.first() else {
        return diagnose(
            record,
            &StepSpan {
                phase: Phase::Baseline,
                users: 0,
                whole: model::unit::Interval::default(),
                measured: model::unit::Interval::default(),
            },
            None,
        );
    };
    let diagnosis = diagnose(record, first, baseline);
    let sure = |diagnosis: &Diagnosis| {
        diagnosis.bottleneck.certainty >= Certainty::Strong && diagnosis.bottleneck.id != "pattern.none"
    };
    if sure(&diagnosis) || matches!(capacity.state, CapacityState::Floor | CapacityState::Crashed) {
        return agree(record, diagnosis, spans.get(1), baseline);
    }
    let others = spans[1..].iter().map(|span| diagnose(record, span, baseline));
    others.fold(diagnosis, |best, other| {
        let better = !sure(&best)
            && (sure(&other)
                || (other.bottleneck.certainty > best.bottleneck.certainty && other.bottleneck.id != "pattern.none"));
        if better { other } else { best }
    })
}

/// Says so if the step beyond the line shows another bottleneck.
fn agree(
    record: &RunRecord,
    mut diagnosis: Diagnosis,
    beyond: Option<&StepSpan>,
    baseline: Option<&StepSpan>,
) -> Diagnosis {
    if let Some(span) = beyond.filter(|span| span.phase == Phase::Over) {
        let other = diagnose(record, span, baseline).bottleneck;
        if other.id != diagnosis.bottleneck.id && other.certainty >= Certainty::Suspected {
            let users = crate::phrase::users(span.users);
            diagnosis.caveats.push(format!("beyond the line, at {users}, {} shows instead", other.id));
        }
    }
    diagnosis
}

/// Steps to look at, in order: where the search ended, then the one beyond it, then the failing steps nearest to it.
fn worth_diagnosing(record: &RunRecord, capacity: &Capacity) -> Vec<StepSpan> {
    let measured = || record.steps.iter().filter(|span| step::measure(record, span).windows > 0);
    let last_of = |phase| measured().rfind(|span| span.phase == phase);
    let mut spans: Vec<StepSpan> = Vec::new();
    let mut add = |span: Option<&StepSpan>| {
        if let Some(span) = span
            && !spans.contains(span)
        {
            spans.push(*span);
        }
    };
    match capacity.state {
        CapacityState::Floor => add(measured().find(|span| span.phase == Phase::Baseline)),
        CapacityState::Crashed => add(measured().next_back()),
        CapacityState::GeneratorLimited => {
            let beyond = measured().filter(|span| span.users > capacity.users);
            add(beyond.min_by_key(|span| span.users));
            add(measured().next_back());
        }
        CapacityState::AtLeast => add(measured().rfind(|span| span.users >= capacity.users)),
        // Without a line that was confirmed, the wall is where the promise was first seen broken, not what held last.
        CapacityState::Undecided => {
            let beyond = measured().filter(|span| span.users > capacity.users && span.phase != Phase::Return);
            add(beyond.min_by_key(|span| (span.users, std::cmp::Reverse(span.whole.from))));
        }
        CapacityState::Found => {}
    }
    add(last_of(Phase::Confirm));
    add(last_of(Phase::Over));
    let mut above: Vec<_> =
        measured().filter(|span| span.users >= capacity.users && span.phase != Phase::Return).collect();
    above.sort_by_key(|span| span.users);
    above.into_iter().for_each(|span| add(Some(span)));
    add(measured().rfind(|span| span.phase != Phase::Return));
    spans
}

/// The most answers per second: requests that failed are no throughput.
fn peak(steps: &[Step]) -> Peak {
    let answered = |step: &Step| step.rate_per_s * (1.0 - step.failed as f64 / step.requests.max(1) as f64);
    let best = steps.iter().max_by(|a, b| answered(a).total_cmp(&answered(b)));
    best.map_or_else(Peak::default, |step| Peak { users: step.users, rate_per_s: answered(step) })
}

fn state_caveat(capacity: &Capacity) -> Option<String> {
    match capacity.state {
        CapacityState::GeneratorLimited => Some(
            "all numbers mean \"at least\": the generator or the machine was the limit before the promise broke"
                .to_owned(),
        ),
        CapacityState::Undecided => {
            Some("the search ended before the line was found: only the range is sure".to_owned())
        }
        CapacityState::Found | CapacityState::AtLeast | CapacityState::Floor | CapacityState::Crashed => None,
    }
}
