//! What the steps add up to. Works from any record, however it ended.

use model::record::RunRecord;
use model::verdict::{Capacity, CapacityState, Phase};

use super::bracket::{Bracket, Seen};
use super::guide::Guide;
use super::{Settings, forecast};

/// A range wider than this is not an answer.
const WIDE: f64 = 1.5;
/// The same for the quick search.
const WIDE_QUICK: f64 = 1.7;
/// A step of this many seconds counts as held even if its interval leaves a doubt.
const LONG_S: f64 = 10.0;

/// The capacity and how sure it is.
pub(super) fn capacity(record: &RunRecord, settings: Settings) -> Capacity {
    let bracket = Bracket::new(record);
    let low = bracket.low().map_or(0, Seen::users);
    let bounded = |state, high: Option<&Seen>| Capacity {
        state,
        users: low,
        users_low: low,
        users_high: high.map(Seen::users),
        rate_per_s: rate_at(&bracket, low),
        broken_by: high.and_then(broken_by),
    };
    if bracket.steps().is_empty() {
        return bounded(CapacityState::Undecided, None);
    }
    if let Some(dead) = bracket.dead() {
        return Capacity { broken_by: broken_by(dead), ..bounded(CapacityState::Crashed, Some(dead)) };
    }
    let Some(high) = bracket.high() else {
        let red = bracket.last().is_some_and(Seen::is_red);
        let state = match () {
            () if red && low < settings.users_max => CapacityState::GeneratorLimited,
            () if low == 0 => CapacityState::Undecided,
            () => CapacityState::AtLeast,
        };
        return bounded(state, None);
    };
    if high.is_red() {
        return Capacity { users_high: None, ..bounded(CapacityState::GeneratorLimited, Some(high)) };
    }
    if low == 0 && high.users() <= 1 {
        return bounded(if high.sure { CapacityState::Floor } else { CapacityState::Undecided }, Some(high));
    }
    found(record, settings, &bracket, high)
}

fn found(record: &RunRecord, settings: Settings, bracket: &Bracket, high: &Seen) -> Capacity {
    let low = bracket.low().map_or(0, Seen::users);
    let top = high.users().saturating_sub(1).max(low);
    let guide = Guide::new(record, bracket);
    let estimate = guide.estimate(bracket, 1.0).unwrap_or(low as f64);
    let sure = bracket.sure_low();
    // A light or short step that only held by the point estimate does not overrule all others together.
    let users = (estimate as u64).clamp(sure.min(low), top);
    // A number that only held by the point estimate gets twice the range.
    let is_sure = sure >= low || sure as f64 >= users as f64 * 0.9;
    let margin = if settings.quick { 0.10 } else { 0.05 } * if is_sure { 1.0 } else { 2.0 };
    let users_low = sure.max((users as f64 * (1.0 - margin)) as u64).min(users);
    let users_high = high.users().min((users as f64 * (1.0 + margin)).ceil() as u64).max(users);
    let wide = if settings.quick { WIDE_QUICK } else { WIDE };
    // Between neighbouring numbers there is nothing left to find.
    let narrow = high.users() <= low + 1 || high.users() as f64 <= low as f64 * wide;
    let held = is_sure || bracket.low().is_some_and(|seen| seen.facts.seconds >= LONG_S);
    let state = if narrow && held { CapacityState::Found } else { CapacityState::Undecided };
    let (users_low, users_high) =
        if state == CapacityState::Found { (users_low, users_high) } else { (sure, high.users()) };
    Capacity {
        state,
        users,
        users_low,
        users_high: Some(users_high),
        rate_per_s: rate_at(bracket, users),
        broken_by: broken_by(high),
    }
}

/// Requests per second of the step nearest to `users`, the longer one of equals.
fn rate_at(bracket: &Bracket, users: u64) -> f64 {
    let away = |seen: &Seen| (seen.users().max(1) as f64 / users.max(1) as f64).ln().abs();
    let steps = bracket.steps().iter().filter(|seen| !seen.dead && seen.facts.span.phase != Phase::Return);
    let nearest = steps.min_by(|a, b| away(a).total_cmp(&away(b)).then(b.facts.seconds.total_cmp(&a.facts.seconds)));
    if users == 0 { 0.0 } else { nearest.map_or(0.0, |seen| seen.facts.rate_per_s) }
}

fn broken_by(seen: &Seen) -> Option<String> {
    seen.facts.worst().map(|fact| fact.text.clone())
}

/// What the reader should know about how the search ended.
pub(crate) fn caveats(record: &RunRecord, capacity: &Capacity, settings: Settings) -> Vec<String> {
    let mut caveats = Vec::new();
    let bracket = Bracket::new(record);
    if let Some(forecast) = forecast(record)
        && !settings.allow_crash
        && capacity.state == CapacityState::AtLeast
        && forecast.safe_users < settings.users_max
    {
        caveats.push(forecast.warning());
    }
    if capacity.state == CapacityState::Found && bracket.confirms() == 0 {
        caveats.push("there was no time to confirm the number in a longer step: the range is wider".to_owned());
    }
    let back = bracket.steps().iter().rfind(|seen| seen.facts.span.phase == Phase::Return);
    if let Some(back) = back.filter(|seen| !seen.below) {
        caveats.push(format!(
            "after the overload the service did not recover: with {} the promise was still broken {:.0} s later",
            crate::phrase::users(back.users()),
            back.facts.span.whole.seconds()
        ));
    }
    caveats
}
