//! Whether a step can be believed at all: does the number of requests under way stand still, does as much leave as
//! enters, and does Little's law hold?

use model::verdict::Judgement;
use model::window::Window;

use super::StepFacts;
use crate::phrase;
use crate::stats::trend;

/// Requests that ended may account for more than were under way by this share: beyond it something is wrong.
const LITTLE_TOLERANCE: f64 = 0.03;
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

/// What the reader should know about users without an answer.
fn silence(facts: &StepFacts) -> Option<String> {
    let unanswered = facts.unanswered?;
    let counts = facts.promises.iter().any(|fact| fact.unanswered_share > 0.0);
    let inherited = unanswered.total - unanswered.own;
    let rest = match () {
        () if counts && inherited < 0.5 => ", but the promise on it counts them as broken".to_owned(),
        () if counts => format!(
            ", but the promise on it counts {} of them as broken: the others wait since a heavier step",
            phrase::count(unanswered.own)
        ),
        () if inherited >= 0.5 => "; they wait since a heavier step and do not count against this one".to_owned(),
        () => String::new(),
    };
    Some(format!(
        "about {} of {} got no answer for longer than the step ({:.0} s); they are in no response time{rest}",
        phrase::count(unanswered.total),
        phrase::users(facts.span.users),
        facts.seconds
    ))
}

/// Takes the judgement back where the measurement contradicts itself, and says so.
pub(super) fn distrust(windows: &[&Window], facts: &mut StepFacts) {
    let users = phrase::users(facts.span.users);
    facts.overload |= facts.unanswered_share() > STUCK_SHARE;
    facts.caveats.extend(silence(facts));
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
