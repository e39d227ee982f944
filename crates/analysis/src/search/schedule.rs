//! How long steps are: seconds follow samples, and everything fits the budget.

use std::time::Duration;

use model::verdict::Phase;

use super::bracket::Seen;
use super::{Order, Settings, is_open};

/// A trial needs this many requests …
const REQUESTS_MIN: f64 = 300.0;
/// … and this many response times.
const RESPONSES_MIN: f64 = 20.0;
/// A step with fewer requests than this is held for longer, whatever it is for.
const REQUESTS_LEAST: u64 = 30;
/// Pieces by which a step is held for longer.
const EXTENSION_S: f64 = 5.0;

/// Seconds of each kind of step for the time that may be spent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    budget: Duration,
    settle: f64,
    baseline: f64,
    probe: f64,
    trial: f64,
    confirm: f64,
    confirm_max: f64,
    over: f64,
    back: f64,
}

impl Schedule {
    /// The plan of the full search is made for 180 s, that of the quick one for 90 s; other budgets scale it.
    pub(super) fn new(settings: Settings) -> Self {
        let seconds = settings.budget.as_secs_f64();
        if settings.quick {
            let budget = seconds.min(90.0);
            let scale = (budget / 90.0).clamp(0.2, 1.0);
            return Self {
                budget: Duration::from_secs_f64(budget),
                settle: (1.5 * scale).max(0.5),
                baseline: 5.0 * scale,
                probe: 3.0 * scale,
                trial: 8.0 * scale,
                confirm: 15.0 * scale,
                confirm_max: 20.0 * scale,
                over: 6.0 * scale,
                back: 0.0,
            };
        }
        let scale = (seconds / 180.0).clamp(0.1, 3.0);
        Self {
            budget: settings.budget,
            settle: (2.0 * scale.min(1.0)).max(0.5),
            baseline: 10.0 * scale,
            probe: 5.0 * scale,
            trial: 15.0 * scale,
            confirm: 30.0 * scale,
            confirm_max: 40.0 * scale,
            over: 10.0 * scale,
            back: 10.0 * scale,
        }
    }

    pub(super) fn budget(&self) -> Duration {
        self.budget
    }

    pub(super) fn first(&self) -> Order {
        Order { phase: Phase::Baseline, users: 1, settle: duration(self.settle), length: duration(self.baseline) }
    }

    /// The order for a step, cut to the time that is left; `None` if that is too short to mean anything.
    pub(super) fn order(&self, phase: Phase, users: u64, last: &Seen, left: Duration) -> Option<Order> {
        let settle = self.settle_s(users, last);
        let wish = match phase {
            Phase::Baseline => self.baseline,
            Phase::Probe => self.probe.max(3.0 * expected_s(users, last)).min(3.0 * self.probe),
            Phase::Trial => self.trial_s(last),
            Phase::Confirm => self.confirm,
            Phase::Over => self.over,
            Phase::Return => self.back,
        };
        let length = wish.min(left.as_secs_f64() - settle);
        (wish > 0.0 && length >= 0.4 * wish).then(|| Order {
            phase,
            users,
            settle: duration(settle),
            length: duration(length),
        })
    }

    /// A short step above the candidate, so that the candidate is met from above.
    pub(super) fn approach(&self, users: u64, last: &Seen) -> Order {
        let settle = duration(self.settle_s(users, last));
        Order { phase: Phase::Trial, users, settle, length: duration(self.probe) }
    }

    /// How much longer the last step should be held: pieces of five seconds while a confirmation is undecided or any
    /// step has hardly a sample.
    pub(super) fn extension(&self, last: &Seen, left: Duration) -> Option<Duration> {
        let seconds = last.facts.seconds;
        let piece = EXTENSION_S.min(self.confirm / 3.0);
        let sparse = last.facts.requests.finished < REQUESTS_LEAST && !last.sure;
        let most = match last.facts.span.phase {
            Phase::Confirm if is_open(last.facts.promise) => self.confirm_max,
            Phase::Baseline | Phase::Probe | Phase::Trial if sparse => 2.0 * self.baseline,
            _ => return None,
        };
        let fits = seconds + piece <= most + 0.5 && left.as_secs_f64() > piece + self.over;
        fits.then(|| duration(piece))
    }

    pub(super) fn has_time_for_trial(&self, last: &Seen, left: Duration) -> bool {
        left.as_secs_f64() >= self.trial_s(last) + self.settle + self.approach_s() + self.end_s()
    }

    pub(super) fn has_time_for_approach(&self, left: Duration) -> bool {
        left.as_secs_f64() >= self.approach_s() + 0.6 * self.confirm + self.settle
    }

    pub(super) fn has_time_for_confirm(&self, left: Duration) -> bool {
        left.as_secs_f64() >= 0.5 * self.confirm + self.settle
    }

    fn approach_s(&self) -> f64 {
        self.probe + self.settle
    }

    /// Confirmation, over and return with their settling.
    fn end_s(&self) -> f64 {
        self.confirm + self.over + self.back + 3.0 * self.settle
    }

    fn trial_s(&self, last: &Seen) -> f64 {
        let rate = last.facts.rate_per_s.max(0.1);
        let samples = (REQUESTS_MIN / rate).max(RESPONSES_MIN * last.facts.latency_ms.avg / 1e3);
        samples.clamp(self.trial, 3.0 * self.trial)
    }

    /// Three response times, a fifth of a short step, and never less than the plan's own.
    fn settle_s(&self, users: u64, last: &Seen) -> f64 {
        (3.0 * expected_s(users, last)).clamp(self.settle, 5.0 * self.settle)
    }
}

/// The response time to expect: that of the last step, longer if more users share what it carried (R = N / X − Z).
fn expected_s(users: u64, last: &Seen) -> f64 {
    let seen = last.facts.wait_ms() / 1e3;
    let share = users as f64 / last.users().max(1) as f64;
    seen * share.clamp(0.5, 4.0)
}

fn duration(seconds: f64) -> Duration {
    Duration::from_millis((seconds * 1e3).round() as u64)
}
