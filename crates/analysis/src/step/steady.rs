//! Whether a step can be believed at all: does the number of requests under way stand still, does as much leave as
//! enters, and does Little's law hold?

use model::verdict::Judgement;
use model::window::Window;

use super::StepFacts;
use crate::phrase;
use crate::stats::trend;

/// Requests that ended may account for more than were under way by this share: beyond it something is wrong.
const LITTLE_TOLERANCE: f64 = 0.03;
/// Users without an answer are told from this share of all on.
const UNANSWERED_SHARE: f64 = 0.03;
/// More users than this share without any answer are an overload, whatever the served ones say.
const STUCK_SHARE: f64 = 0.3;
/// As much must leave as enters, to within this share.
const BALANCE_TOLERANCE: f64 = 0.03;

/// Whether requests under way grew through the step: by more than a tenth of their mean, and by more than three
/// standard errors. With few of them (below 2) growth means nothing.
pub(super) fn overload(windows: &[&Window]) -> bool {
    let begin = windows.first().map_or(0.0, |window| window.interval.from.seconds());
    let points: Vec<_> =
        windows.iter().map(|window| (window.interval.from.seconds() - begin, window.in_flight_mean)).collect();
    let (Some(slope), Some(last)) = (trend::slope(&points), points.last()) else { return false };
    let Some(error) = trend::slope_error(&points, slope) else { return false };
    let mean = points.iter().map(|point| point.1).sum::<f64>() / points.len() as f64;
    mean >= 2.0 && slope * last.0 > 0.1 * mean && slope > 3.0 * error
}

/// Whose requests were under way in a step, by Little's law (Little 1961): under way = ended per second × their length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Accounts {
    /// Requests under way that those that ended in the step account for.
    pub(super) answered: f64,
    /// Users whose request neither began nor ended in the step.
    pub(super) unanswered: Option<f64>,
}

/// Sorts out whose time the step is made of, in requests under way, that is seconds of requests per second.
///
/// A request that ended after t seconds of the step took at most t of it, however long it was: so A = Σ min(length, t) ÷ T
/// requests are *answered*, and never more than there were. Those under way at the end, begun a = E\[length²] ÷ 2 E\[length]
/// before it on average (renewal theory), are in no sum yet. So of N under way k = N − A ÷ (1 − a ÷ T) wait for longer than
/// the step, as long as what is open at the end is a small part: a ≤ T ÷ 5. Less than 3 % of the users and the effect of
/// the edges (length ÷ T) is not told apart from chance, and a step below five lengths leaves too much open. Where
/// requests pile up they are older at the end than those that ended were, so nothing is said of k.
pub(super) fn accounts(windows: &[&Window], facts: &StepFacts) -> Accounts {
    let begin = windows.first().map_or(0.0, |window| window.interval.from.seconds());
    let (mut sum, mut squares, mut blocked) = (0.0, 0.0, 0.0);
    for window in windows {
        let (from, to) = (window.interval.from.seconds() - begin, window.interval.to.seconds() - begin);
        for (micros, times) in window.requests.duration.buckets() {
            let (length, times) = (part_inside(micros as f64 / 1e6, from, to), times as f64);
            sum += times * length;
            squares += times * length * length;
        }
        blocked +=
            (window.requests.blocked_ms_sum / 1e3).min(window.requests.finished as f64 * f64::midpoint(from, to));
    }
    let seconds = facts.seconds.max(1e-9);
    let answered = sum / seconds;
    let age = if sum > 0.0 { squares / (2.0 * sum) } else { f64::INFINITY };
    let length = (sum + blocked) / (facts.requests.finished as f64).max(1e-9);
    let long = !facts.overload && seconds >= 5.0 * length && age <= seconds / 5.0 && facts.active_mean >= 4.0;
    // More than there should be, to the end: users who were to leave after a heavier step and still wait for their last
    // answer. Those that it came to are among the answered.
    let leaving = windows.last().map_or(0.0, |window| (window.active_mean - facts.span.users as f64).max(0.0));
    let unanswered = facts.in_flight_mean - (sum + blocked) / seconds / (1.0 - age / seconds) - leaving;
    let told = UNANSWERED_SHARE * (facts.active_mean - leaving) + facts.in_flight_mean * length / seconds;
    let unanswered = (long && unanswered > told).then(|| unanswered.min(facts.active_mean));
    Accounts { answered, unanswered }
}

/// How much of a request of this length lies inside the step, on average, if it ended between `from` and `to` seconds
/// after the step began: E\[min(length, t)] for t uniform in between.
fn part_inside(length: f64, from: f64, to: f64) -> f64 {
    match () {
        () if length <= from => length,
        () if length >= to => f64::midpoint(from, to),
        () => ((length * length - from * from) / 2.0 + length * (to - length)) / (to - from),
    }
}

/// Takes the judgement back where the measurement contradicts itself, and says so.
pub(super) fn distrust(windows: &[&Window], facts: &mut StepFacts) {
    let users = phrase::users(facts.span.users);
    if let Some(unanswered) = facts.unanswered {
        facts.overload |= facts.unanswered_share() > STUCK_SHARE;
        let counts = facts.promises.iter().any(|fact| fact.unanswered_share > 0.0);
        facts.caveats.push(format!(
            "about {} of {users} got no answer for longer than the step ({:.0} s); they are in no response time{}",
            phrase::count(unanswered),
            facts.seconds,
            if counts { ", but the promise on it counts them as broken" } else { "" }
        ));
    }
    if facts.answered > facts.in_flight_mean * (1.0 + LITTLE_TOLERANCE) && facts.requests.finished >= 300 {
        facts.promise = Judgement::Undecided;
        facts.caveats.push(format!(
            "Little's law does not hold in the step with {users}: {} requests were under way, those that ended make {}; \
             the measurement contradicts itself, the step decides nothing",
            phrase::number(facts.in_flight_mean),
            phrase::number(facts.answered),
        ));
    }
    if facts.overload && facts.promise == Judgement::Pass {
        facts.promise = Judgement::Undecided;
    }
    let (started, finished) = (facts.requests.started as f64, facts.requests.finished as f64);
    let edge = facts.in_flight_mean.max(2.0 * finished.sqrt());
    if windows.len() >= 3 && (started - finished).abs() > BALANCE_TOLERANCE * finished + edge {
        facts.caveats.push(format!(
            "in the step with {users} {} requests began and {} ended: it was not steady",
            phrase::count(started),
            phrase::count(finished)
        ));
    }
    let hidden = facts.blocked_ms / facts.wait_ms().max(1e-9);
    if hidden > 0.2 && facts.blocked_ms > 1.0 {
        facts.caveats.push(format!(
            "at {users} a request waits {} for a connection before it is sent; http_req_duration does not count that",
            phrase::ms(facts.blocked_ms)
        ));
    }
}
