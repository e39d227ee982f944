//! Whose time a step is made of: requests that were answered, and users who got no answer for longer than the step, who
//! are in no response time. Must never count against a step who waits since a much heavier one.

use model::record::{RunRecord, StepSpan};
use model::unit::Moment;
use model::verdict::Phase;
use model::window::Window;

use super::StepFacts;

/// A step is much heavier than another if it has this many times its users. Less than that is an approach from above, in
/// which a queue, and who is stuck in it, is meant to be met.
const MUCH_HEAVIER: f64 = 1.25;
/// Users without an answer are told from this share of all on.
const UNANSWERED_SHARE: f64 = 0.03;

/// Requests under way, by Little's law (Little 1961): under way = ended per second × their length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Accounts {
    /// Those that ended in the step account for so many.
    pub(super) answered: f64,
    /// Users whose request neither began nor ended in the step.
    pub(super) unanswered: Option<Unanswered>,
}

/// Users that got no answer for longer than the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unanswered {
    /// All of them.
    pub total: f64,
    /// Those that asked since a load much heavier than this step's, if there was one: its own doing.
    pub own: f64,
}

/// Sorts out whose time the step is made of, in requests under way, that is seconds of requests per second.
///
/// A request that ended after t seconds of the step took at most t of it, however long it was: so A = Σ min(length, t) ÷ T
/// requests are *answered*, and never more than there were. Those under way at the end, begun a = E\[length²] ÷ 2 E\[length]
/// before it on average (renewal theory), are in no sum yet. So of N under way k = N − A ÷ (1 − a ÷ T) wait for longer than
/// the step, as long as what is open at the end is a small part: a ≤ T ÷ 5. Less than 3 % of the users and the effect of
/// the edges (length ÷ T) is not told apart from chance, and a step below five lengths leaves too much open. Where
/// requests pile up they are older at the end than those that ended were, so nothing is said of k.
pub(super) fn accounts(record: &RunRecord, windows: &[&Window], facts: &StepFacts) -> Accounts {
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
    if facts.overload || seconds < 5.0 * length || age > seconds / 5.0 || facts.active_mean < 4.0 {
        return Accounts { answered, unanswered: None };
    }
    // More than there should be: users who were to leave after a heavier step and still wait for their last answer.
    let leaving = (facts.active_mean - facts.span.users as f64).max(0.0);
    let served = (sum + blocked) / seconds / (1.0 - age / seconds);
    let total = (facts.in_flight_mean - served - leaving).min(facts.active_mean);
    let told = UNANSWERED_SHARE * (facts.active_mean - leaving) + facts.in_flight_mean * length / seconds;
    let unanswered = (total > told).then(|| {
        let own = match facts.span.phase {
            // This step is there to see whether those who wait are let in again.
            Phase::Return => total,
            _ => (begun_and_open(record, &facts.span) - served).min(total),
        };
        Unanswered { total, own: if own > told { own } else { 0.0 } }
    });
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

/// Requests under way at the end of the step that began since the last load that was much heavier: those that began, less those that
/// ended and are not older than that.
fn begun_and_open(record: &RunRecord, span: &StepSpan) -> f64 {
    let since = since_when(record, span);
    let inside = |window: &&Window| {
        let middle = Moment(u64::midpoint(window.interval.from.0, window.interval.to.0));
        window.interval.from >= since && middle < span.measured.to
    };
    let windows: Vec<&Window> = record.windows.iter().filter(inside).collect();
    let begin = windows.first().map_or(0.0, |window| window.interval.from.seconds());
    let open = windows.iter().map(|window| {
        let (from, to) = (window.interval.from.seconds() - begin, window.interval.to.seconds() - begin);
        window.requests.started as f64 - younger(window, from, to)
    });
    open.sum::<f64>().max(0.0)
}

/// Requests of this window that had not begun before second 0, if it reaches from second `from` to second `to`.
fn younger(window: &Window, from: f64, to: f64) -> f64 {
    let durations = &window.requests.duration;
    if durations.max_ms() <= from * 1e3 {
        return durations.count() as f64;
    }
    let share = |length: f64| ((to - length) / (to - from)).clamp(0.0, 1.0);
    durations.buckets().map(|(micros, times)| share(micros as f64 / 1e6) * times as f64).sum()
}

/// When the last load ended that was much heavier; the beginning of the run without one. Who asked before may wait for that load's sake.
fn since_when(record: &RunRecord, span: &StepSpan) -> Moment {
    let before = record.steps.iter().rev().filter(|step| step.whole.from < span.whole.from);
    let lighter = before.take_while(|step| step.users as f64 <= MUCH_HEAVIER * span.users as f64);
    lighter.last().map_or(span.whole.from, |step| step.whole.from)
}
