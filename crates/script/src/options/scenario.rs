//! One scenario of the options: who starts iterations, and what all executors have in common.

use std::time::Duration;

use model::plan::{Executor, Scenario};
use serde_json::{Map, Value};

use super::ScriptFacts;
use super::read::{Fields, Notes, expected};

/// How long running iterations may go on behind the end, unless the script says otherwise.
pub(super) const GRACEFUL_STOP: Duration = Duration::from_secs(30);
const MAX_DURATION: Duration = Duration::from_secs(600);
const SHORTEST: Duration = Duration::from_secs(1);

type Build = fn(&mut Fields<'_>, &mut Notes) -> Option<Executor>;

/// All executors that a script can name.
const EXECUTORS: [(&str, Build); 7] = [
    ("shared-iterations", shared_iterations),
    ("per-vu-iterations", per_vu_iterations),
    ("constant-vus", constant_vus),
    ("ramping-vus", ramping_vus),
    ("constant-arrival-rate", constant_arrival_rate),
    ("ramping-arrival-rate", ramping_arrival_rate),
    ("externally-controlled", externally_controlled),
];

/// Exports that are no iterations.
const STAGES_OF_A_TEST: [&str; 3] = ["setup", "teardown", "handleSummary"];

/// All scenarios of an object of the options, in its order.
pub(super) fn scenarios(map: &Map<String, Value>, facts: &ScriptFacts, notes: &mut Notes) -> Vec<Scenario> {
    map.iter().filter_map(|(name, value)| scenario(name, value, facts, notes)).collect()
}

fn scenario(name: &str, value: &Value, facts: &ScriptFacts, notes: &mut Notes) -> Option<Scenario> {
    let place = format!("scenario `{name}`");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || !name.chars().all(is_plain) {
        notes.mistake(format!("{place}: a name may hold letters, digits, `_` and `-`"));
    }
    let Some(map) = value.as_object() else {
        notes.mistake(expected(&place, "an object", value));
        return None;
    };
    let mut fields = Fields::new(format!("{place},"), map);
    let kind = fields.required(notes, "executor", |fields, notes, key| fields.text(notes, key))?;
    let Some((_, build)) = EXECUTORS.iter().find(|(known, _)| *known == kind) else {
        let known: Vec<&str> = EXECUTORS.iter().map(|(known, _)| *known).collect();
        notes.mistake(format!("{place}: there is no executor `{kind}`, use one of {}", known.join(", ")));
        return None;
    };
    let exec = fields.text(notes, "exec").unwrap_or("default").to_owned();
    check_exec(&place, &exec, facts, notes);
    let start_time = fields.duration(notes, "startTime").unwrap_or_default();
    let graceful_stop = fields.duration(notes, "gracefulStop").unwrap_or(GRACEFUL_STOP);
    let env = fields.text_map(notes, "env").unwrap_or_default();
    let tags = fields.text_map(notes, "tags").unwrap_or_default();
    if let Some(inner) = fields.object(notes, "options") {
        for key in inner.keys() {
            notes.mistake(format!("{place}: option `{key}` is not supported yet"));
        }
    }
    let executor = build(&mut fields, notes);
    let graceful_stop =
        if matches!(executor, Some(Executor::ExternallyControlled { .. })) { Duration::ZERO } else { graceful_stop };
    for unknown in fields.unknown() {
        notes.mistake(format!("{place}: executor `{kind}` has no key `{unknown}`"));
    }
    Some(Scenario { name: name.to_owned(), executor: executor?, exec, start_time, graceful_stop, env, tags })
}

/// Notes a mistake if `exec` is not an exported function that can be an iteration.
pub(super) fn check_exec(place: &str, exec: &str, facts: &ScriptFacts, notes: &mut Notes) {
    let iterations: Vec<&str> =
        facts.exports.iter().map(String::as_str).filter(|name| !STAGES_OF_A_TEST.contains(name)).collect();
    if iterations.contains(&exec) {
        return;
    }
    notes.mistake(if iterations.is_empty() {
        format!("{place}: the script exports no function `{exec}`")
    } else {
        format!("{place}: the script exports no function `{exec}`, only {}", iterations.join(", "))
    });
}

fn shared_iterations(fields: &mut Fields<'_>, notes: &mut Notes) -> Option<Executor> {
    let vus = at_least_one(fields, notes, "vus");
    let iterations = iterations(fields, notes);
    let max_duration = max_duration(fields, notes);
    let (vus, iterations) = (vus?, iterations?);
    check_shared(&fields.label("iterations"), vus, iterations, notes);
    Some(Executor::SharedIterations { vus, iterations, max_duration })
}

/// Every user must have something to do.
pub(super) fn check_shared(label: &str, vus: u32, iterations: u64, notes: &mut Notes) {
    if iterations < u64::from(vus) {
        notes.mistake(format!("{label}: {iterations} iterations are too few for {vus} users, who share them"));
    }
}

fn per_vu_iterations(fields: &mut Fields<'_>, notes: &mut Notes) -> Option<Executor> {
    let vus = at_least_one(fields, notes, "vus");
    let iterations = iterations(fields, notes);
    let max_duration = max_duration(fields, notes);
    Some(Executor::PerVuIterations { vus: vus?, iterations: iterations?, max_duration })
}

fn constant_vus(fields: &mut Fields<'_>, notes: &mut Notes) -> Option<Executor> {
    let vus = at_least_one(fields, notes, "vus");
    let duration = required_duration(fields, notes);
    Some(Executor::ConstantVus { vus: vus?, duration: duration? })
}

fn ramping_vus(fields: &mut Fields<'_>, notes: &mut Notes) -> Option<Executor> {
    let start_vus = fields.users(notes, "startVUs").unwrap_or(1);
    let stages = fields.required(notes, "stages", |fields, notes, key| fields.stages(notes, key));
    let graceful_ramp_down = fields.duration(notes, "gracefulRampDown").unwrap_or(GRACEFUL_STOP);
    let executor = Executor::RampingVus { start_vus, stages: stages?, graceful_ramp_down };
    check_ramp(&fields.label("stages"), &executor, notes);
    Some(executor)
}

/// A ramp must lead somewhere.
pub(super) fn check_ramp(label: &str, ramp: &Executor, notes: &mut Notes) {
    if matches!(ramp, Executor::RampingVus { stages, .. } if stages.is_empty()) {
        notes.mistake(format!("{label}: at least one stage is expected"));
    } else if ramp.max_vus() == 0 {
        notes.mistake(format!("{label}: a stage or the start must have users"));
    }
}

fn constant_arrival_rate(fields: &mut Fields<'_>, notes: &mut Notes) -> Option<Executor> {
    let rate = fields.required(notes, "rate", |fields, notes, key| at_least_one_of(fields, notes, key));
    let time_unit = time_unit(fields, notes);
    let duration = required_duration(fields, notes);
    let (pre_allocated_vus, max_vus) = users_of_arrivals(fields, notes)?;
    let (rate, duration) = (rate? as f64, duration?);
    Some(Executor::ConstantArrivalRate { rate, time_unit, duration, pre_allocated_vus, max_vus })
}

fn ramping_arrival_rate(fields: &mut Fields<'_>, notes: &mut Notes) -> Option<Executor> {
    let start_rate = fields.users(notes, "startRate").unwrap_or(0);
    let time_unit = time_unit(fields, notes);
    let stages = fields.required(notes, "stages", |fields, notes, key| fields.stages(notes, key));
    let (pre_allocated_vus, max_vus) = users_of_arrivals(fields, notes)?;
    let stages = stages?;
    if stages.is_empty() {
        notes.mistake(format!("{}: at least one stage is expected", fields.label("stages")));
    }
    Some(Executor::RampingArrivalRate { start_rate, time_unit, stages, pre_allocated_vus, max_vus })
}

/// As in k6 1.x: the users that the plan names, since nobody steers them, until the end cuts them off.
fn externally_controlled(fields: &mut Fields<'_>, notes: &mut Notes) -> Option<Executor> {
    let vus = fields.users(notes, "vus").unwrap_or(0);
    let max_vus = fields.users(notes, "maxVUs").unwrap_or(vus);
    let duration = fields.required(notes, "duration", |fields, notes, key| fields.duration(notes, key))?;
    if max_vus < vus {
        notes.mistake(format!("{}: at least {vus} is expected, {max_vus} was given", fields.label("maxVUs")));
    }
    if fields.value("gracefulStop").is_some() {
        notes.mistake(format!("{}: the executor externally-controlled has none", fields.label("gracefulStop")));
    }
    Some(Executor::ExternallyControlled { vus, max_vus, duration: (!duration.is_zero()).then_some(duration) })
}

fn time_unit(fields: &mut Fields<'_>, notes: &mut Notes) -> Duration {
    let time_unit = fields.duration(notes, "timeUnit").unwrap_or(SHORTEST);
    if time_unit.is_zero() {
        notes.mistake(format!("{}: more than 0 is expected", fields.label("timeUnit")));
    }
    time_unit
}

/// Users ready before the start, and users at most.
fn users_of_arrivals(fields: &mut Fields<'_>, notes: &mut Notes) -> Option<(u32, u32)> {
    let pre_allocated_vus = fields.required(notes, "preAllocatedVUs", |fields, notes, key| fields.users(notes, key));
    let max_vus = fields.users(notes, "maxVUs").or(pre_allocated_vus);
    let (pre_allocated_vus, max_vus) = (pre_allocated_vus?, max_vus?);
    if max_vus < pre_allocated_vus.max(1) {
        let label = fields.label("maxVUs");
        notes.mistake(format!("{label}: at least {} is expected, {max_vus} was given", pre_allocated_vus.max(1)));
    }
    Some((pre_allocated_vus, max_vus))
}

fn at_least_one_of(fields: &mut Fields<'_>, notes: &mut Notes, key: &'static str) -> Option<u64> {
    let number = fields.whole(notes, key)?;
    if number == 0 {
        notes.mistake(format!("{}: more than 0 is expected", fields.label(key)));
    }
    Some(number)
}

fn at_least_one(fields: &mut Fields<'_>, notes: &mut Notes, key: &'static str) -> Option<u32> {
    if fields.value(key).is_none() {
        return Some(1);
    }
    let users = fields.users(notes, key)?;
    check_users(&fields.label(key), users, notes);
    Some(users)
}

pub(super) fn check_users(label: &str, users: u32, notes: &mut Notes) {
    if users == 0 {
        notes.mistake(format!("{label}: more than 0 is expected"));
    }
}

fn iterations(fields: &mut Fields<'_>, notes: &mut Notes) -> Option<u64> {
    if fields.value("iterations").is_none() { Some(1) } else { at_least_one_of(fields, notes, "iterations") }
}

fn max_duration(fields: &mut Fields<'_>, notes: &mut Notes) -> Duration {
    let duration = fields.duration(notes, "maxDuration").unwrap_or(MAX_DURATION);
    check_length(&fields.label("maxDuration"), duration, notes);
    duration
}

fn required_duration(fields: &mut Fields<'_>, notes: &mut Notes) -> Option<Duration> {
    let duration = fields.required(notes, "duration", |fields, notes, key| fields.duration(notes, key))?;
    check_length(&fields.label("duration"), duration, notes);
    Some(duration)
}

/// k6 refuses scenarios shorter than a second.
pub(super) fn check_length(label: &str, duration: Duration, notes: &mut Notes) {
    if duration < SHORTEST {
        notes.mistake(format!("{label}: at least 1s is expected, {duration:?} was given"));
    }
}
