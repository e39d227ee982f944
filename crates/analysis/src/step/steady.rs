//! Whether a step can be believed at all: does the number of requests under way stand still, does as much leave as
//! enters, and does Little's law hold?

use model::verdict::Judgement;
use model::window::Window;

use super::StepFacts;
use crate::phrase;
use crate::stats::trend;

/// Little's law must hold to within this, besides the effect of iterations that reach over the edges.
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

/// N / (X · D) with N the iterations under way, X those that end per second and D their mean length (Little 1961).
/// Only said of steps of at least 20 iteration lengths and 300 iterations, since iterations that reach over the edges
/// count in N and not in D.
pub(super) fn little(facts: &StepFacts) -> Option<f64> {
    let expected = facts.iterations_per_s * facts.iteration_s;
    let long = facts.seconds >= 20.0 * facts.iteration_s && facts.iterations_per_s * facts.seconds >= 300.0;
    (long && expected > 0.0).then(|| facts.active_mean / expected)
}

/// The share of users that got no answer at all: under way, and not accounted for by iterations that ended. They are in
/// no response time, so the mean and the percentiles of those that were served look fine. `None` if it is small, or if
/// the step is shorter than five iterations, which leaves as much open.
pub(super) fn stuck_share(facts: &StepFacts) -> Option<f64> {
    let served = facts.iterations_per_s * facts.iteration_s;
    let share = 1.0 - served / facts.active_mean.max(1e-9);
    let long = facts.seconds >= 5.0 * facts.iteration_s && facts.iterations_per_s > 0.0;
    (long && facts.active_mean >= 4.0 && share > STUCK_SHARE).then_some(share)
}

/// Takes the judgement back where the measurement contradicts itself, and says so.
pub(super) fn distrust(windows: &[&Window], facts: &mut StepFacts) {
    let users = phrase::users(facts.span.users);
    let stuck = stuck_share(facts);
    if let Some(share) = stuck {
        facts.overload = true;
        facts.caveats.push(format!(
            "at {users} {} of the users got no answer during the whole step; they are in no response time",
            phrase::percent(share)
        ));
    }
    if let Some(ratio) = facts.little.filter(|_| stuck.is_none()) {
        let edge = facts.iteration_s / facts.seconds.max(1.0);
        if (ratio - 1.0).abs() > LITTLE_TOLERANCE + edge {
            facts.promise = Judgement::Undecided;
            facts.caveats.push(format!(
                "Little's law does not hold in the step with {users}: {} iterations were under way, rate times length \
                 gives {}; samples are missing, the step decides nothing",
                phrase::number(facts.active_mean),
                phrase::number(facts.active_mean / ratio),
            ));
        }
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
