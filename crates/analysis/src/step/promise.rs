//! Whether a promise held in a step: by the share of samples that break it, not by the percentile itself. The share is
//! bounded, needs no density estimate and keeps failed requests inside.

use model::expression::{Breaks, Promise};
use model::verdict::Judgement;
use model::window::Window;

use super::StepFacts;
use crate::phrase;
use crate::stats::{batch, share};

/// Fewer samples than this cannot keep a promise, even if none of them breaks it.
const SAMPLES_MIN: u64 = 30;

/// How one promise fared in a step.
#[derive(Clone, Debug, PartialEq)]
pub struct PromiseFact {
    /// The promise as text.
    pub text: String,
    /// Share of samples that broke it, users without an answer included.
    pub share: f64,
    /// Lower end of the 95 % interval of the share.
    pub low: f64,
    /// Upper end of the 95 % interval of the share.
    pub high: f64,
    /// Share of users that got no answer for longer than the step and count as broken; zero if it speaks of other things.
    pub unanswered_share: f64,
    /// Share that may break it.
    pub allowed: f64,
    /// Samples it rests on.
    pub samples: u64,
    /// Whether it held.
    pub judgement: Judgement,
}

impl PromiseFact {
    /// The share that broke it as a multiple of what is allowed: above 1 it is broken, if only by the point estimate.
    pub fn excess(&self) -> f64 {
        self.share / self.allowed.max(1e-6)
    }
}

/// Judges the promises that can be counted sample by sample.
pub(super) fn judge_all(promises: &[Promise], windows: &[&Window], step: &StepFacts) -> Vec<PromiseFact> {
    let numbered = promises.iter().enumerate();
    numbered.filter_map(|(index, promise)| judge(promise, index, windows, unanswered_share(promise, step))).collect()
}

/// The share of users whose silence breaks `promise`: those that got no answer for longer than the step, if the promise
/// is on how long everybody waits and the step is longer than that.
///
/// They leave no sample, and those that are served leave many, so counting samples would hide them (coordinated
/// omission). Had they asked as often as the others they would have left as many: of all samples then, the share
/// w + (1 − w) · s breaks the promise, with w of the users unanswered and s of the samples broken.
fn unanswered_share(promise: &Promise, step: &StepFacts) -> f64 {
    let is_time = ["http_req_duration", "http_req_waiting", "iteration_duration"];
    let speaks = is_time.contains(&promise.selector.metric.as_str()) && promise.selector.tags.is_empty();
    match promise.exceedance().map(|exceedance| exceedance.breaks) {
        Some(Breaks::Over(limit_ms)) if speaks && limit_ms < step.seconds * 1e3 => step.unanswered_share(),
        _ => 0.0,
    }
}

fn judge(promise: &Promise, index: usize, windows: &[&Window], unanswered: f64) -> Option<PromiseFact> {
    let allowed = promise.exceedance()?.allowed;
    let counts: Vec<_> = windows.iter().filter_map(|window| window.promises.get(index)).collect();
    let (samples, broken) = counts.iter().fold((0, 0), |sum, count| (sum.0 + count.samples, sum.1 + count.broken));
    let pairs: Vec<_> = counts.iter().map(|count| (count.broken as f64, count.samples as f64)).collect();
    let (share, low, high) = match batch::ratio(&pairs) {
        // Batches that agree by chance may not claim more than independent samples could.
        Some(estimate) => {
            let bound = share::wilson(broken, samples);
            (estimate.mean, estimate.low().min(bound.0).max(0.0), estimate.high().max(bound.1).min(1.0))
        }
        None => (0.0, 0.0, 1.0),
    };
    let [share, low, high] = [share, low, high].map(|share| unanswered + (1.0 - unanswered) * share);
    let judgement = match () {
        () if samples == 0 => Judgement::Undecided,
        () if low > allowed || (allowed == 0.0 && broken > 0) => Judgement::Fail,
        () if high < allowed || (broken == 0 && unanswered == 0.0 && samples >= SAMPLES_MIN) => Judgement::Pass,
        () => Judgement::Undecided,
    };
    let (text, unanswered_share) = (promise.to_string(), unanswered);
    Some(PromiseFact { text, share, low, high, unanswered_share, allowed, samples, judgement })
}

/// One broken promise breaks them all; otherwise one that is open leaves all open. Without promises nothing is decided.
pub(super) fn together(facts: &[PromiseFact]) -> Judgement {
    let any = |judgement| facts.iter().any(|fact| fact.judgement == judgement);
    if any(Judgement::Fail) {
        Judgement::Fail
    } else if facts.is_empty() || any(Judgement::Undecided) {
        Judgement::Undecided
    } else {
        Judgement::Pass
    }
}

/// What the reader should know about the promises.
pub(super) fn caveats(promises: &[Promise], facts: &[PromiseFact]) -> Vec<String> {
    let uncounted = promises.iter().filter(|promise| promise.exceedance().is_none());
    let uncounted = uncounted
        .map(|promise| format!("`{promise}` is not judged: a promise must be about single samples, such as p(90)"));
    let weak = facts.iter().filter(|fact| fact.judgement == Judgement::Pass && fact.high > fact.allowed);
    let weak = weak.map(|fact| {
        let (samples, claim) = (phrase::count(fact.samples as f64), phrase::percent(fact.high));
        format!("`{}` held in all {samples} samples, which is only enough to claim less than {claim}", fact.text)
    });
    uncounted.chain(weak).collect()
}
