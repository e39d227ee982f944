//! Where to look next: a queue model fitted to what was seen, corrected by what it got wrong nearby. Its word counts
//! only inside the bracket.

use model::record::RunRecord;
use model::verdict::Phase;

use super::bracket::{Bracket, Seen};
use crate::queue::ClosedQueue;
use crate::step::{self, LatencyLimit};

/// Fewer requests than this say nothing about a percentile.
const REQUESTS_MIN: u64 = 50;
/// The corrections of two trials may differ by this factor; beyond it the model is wrong and the middle is taken.
const TRUST: f64 = 1.3;
/// How quickly an observation loses weight with its distance, in natural logarithms of users.
const REACH: f64 = 0.35;
/// Throughput that grew by less than this share does not grow.
const FLAT: f64 = 1.05;
/// How much a single probe may raise the load.
const STRIDE: f64 = 4.0;
/// How much it may if the throughput is known not to grow any more.
const STRIDE_FLAT: f64 = 8.0;

/// A model of the service, fitted to the steps.
pub(crate) struct Guide {
    limit: Option<LatencyLimit>,
    queue: Option<ClosedQueue>,
    /// Users and the observed quantile in milliseconds, with the seconds it was observed for.
    observed: Vec<(u64, f64, f64)>,
}

impl Guide {
    pub(crate) fn new(record: &RunRecord, bracket: &Bracket) -> Self {
        let limit = record.plan.as_ref().and_then(|plan| step::latency_limit(&plan.promises));
        let usable = |seen: &&Seen| {
            seen.facts.requests.finished >= REQUESTS_MIN && !seen.dead && seen.facts.span.phase != Phase::Return
        };
        let observed = limit.map_or_else(Vec::new, |limit| {
            let steps = bracket.steps().iter().filter(usable);
            steps.map(|seen| (seen.users(), seen.facts.promised_latency_ms(limit), seen.facts.seconds)).collect()
        });
        Self { limit, queue: fit(bracket), observed }
    }

    /// How far the response time of a step is from its limit, as a share of it.
    pub(crate) fn distance(&self, seen: &Seen) -> Option<f64> {
        let limit = self.limit?;
        Some((seen.facts.promised_latency_ms(limit) / limit.limit_ms - 1.0).abs())
    }

    /// The users of the next probe above `last`, before any bound: double, four times if the response time leaves room
    /// for it, and straight to the model's line if the throughput has stopped growing.
    pub(crate) fn probe(&self, bracket: &Bracket, last: &Seen) -> u64 {
        let users = last.users() as f64;
        let room = self.limit.map_or(2.0, |limit| {
            let quantile_ms = seen_quantile(last, limit);
            if quantile_ms * STRIDE <= 0.9 * limit.limit_ms { STRIDE } else { 2.0 }
        });
        let target = match self.line(1.0, users, users, users * STRIDE_FLAT) {
            Some(line) if is_flat(bracket) => (line * 1.1).clamp(users * 1.2, users * STRIDE_FLAT),
            _ => users * room,
        };
        (target.ceil() as u64).max(last.users() + 1)
    }

    /// The users of the next trial, strictly inside the bracket.
    pub(crate) fn propose(&self, bracket: &Bracket, low: u64, high: u64) -> u64 {
        let middle = ((low.max(1) as f64) * high as f64).sqrt();
        let model = if self.is_trusted(bracket) { self.estimate(bracket, 1.0) } else { None };
        let inside = |users: &f64| *users > low as f64 && *users < high as f64;
        let users = model.filter(inside).unwrap_or(middle);
        (users.round() as u64).clamp(low + 1, (high - 1).max(low + 1))
    }

    /// The users at which the response time is `share` of its limit, by the corrected model; `None` without a promise
    /// on response times, or if what broke at the upper end is another promise, a queue that only grew or users without
    /// any answer.
    pub(crate) fn estimate(&self, bracket: &Bracket, share: f64) -> Option<f64> {
        let (low, high) = (bracket.low().map_or(1, Seen::users), bracket.high()?.users());
        let high_facts = &bracket.high()?.facts;
        let broken = high_facts.worst()?;
        if high_facts.overload || broken.unanswered_share > 0.0 || !broken.text.starts_with("http_req_duration") {
            return None;
        }
        let middle = ((low.max(1) as f64) * high as f64).sqrt();
        let (from, to) = (low as f64 * 0.5, high as f64 * 1.1);
        let first = self.line(share, middle, from, to)?;
        self.line(share, first, from, to)
    }

    /// Whether the corrections that the last two steps call for agree.
    fn is_trusted(&self, bracket: &Bracket) -> bool {
        if bracket.trials() == 0 {
            return true;
        }
        let mut factors = self.observed.iter().rev().filter_map(|(users, quantile, _)| self.factor(*users, *quantile));
        match (factors.next(), factors.next()) {
            (Some(last), Some(before)) => (last / before).max(before / last) <= TRUST,
            _ => true,
        }
    }

    /// Solves f · model(N) = share · limit for N in [from, to], where f is the geometric mean of observed over model
    /// with weights that fall with the distance from `near`.
    fn line(&self, share: f64, near: f64, from: f64, to: f64) -> Option<f64> {
        let (queue, limit) = (self.queue?, self.limit?);
        let (mut sum, mut weights) = (0.0, 0.0);
        for (users, quantile, seconds) in &self.observed {
            let away = (*users as f64 / near.max(1.0)).ln() / REACH;
            let weight = seconds * (-away * away).exp();
            if weight > seconds * 0.01
                && let Some(factor) = self.factor(*users, *quantile)
            {
                sum += weight * factor.ln();
                weights += weight;
            }
        }
        let factor = if weights > 0.0 { (sum / weights).exp() } else { 1.0 };
        let target = share * limit.limit_ms / factor;
        let quantile = |users: f64| queue.quantile_ms(users.round().max(1.0) as u64, 1.0 - limit.allowed);
        let (mut low, mut high) = (from.max(1.0), to.max(1.0));
        if quantile(high) <= target {
            return Some(high);
        }
        for _ in 0..9 {
            if high / low < 1.005 {
                break;
            }
            let middle = (low * high).sqrt();
            if quantile(middle) <= target { low = middle } else { high = middle }
        }
        Some((low * high).sqrt())
    }

    fn factor(&self, users: u64, observed_ms: f64) -> Option<f64> {
        let model = self.queue?.quantile_ms(users, 1.0 - self.limit?.allowed);
        (model > 0.0 && observed_ms > 0.0).then(|| observed_ms / model)
    }
}

fn seen_quantile(seen: &Seen, limit: LatencyLimit) -> f64 {
    seen.facts.promised_latency_ms(limit)
}

/// Whether the last rise of load brought no more throughput.
fn is_flat(bracket: &Bracket) -> bool {
    let mut rising = bracket.steps().iter().rev().filter(|seen| seen.below && seen.facts.rate_per_s > 0.0);
    match (rising.next(), rising.next()) {
        (Some(last), Some(before)) => {
            last.users() as f64 >= 1.25 * before.users() as f64
                && last.facts.rate_per_s < FLAT * before.facts.rate_per_s
        }
        _ => false,
    }
}

/// Base response time from the lightest steps, rate from the best, think time from the last.
fn fit(bracket: &Bracket) -> Option<ClosedQueue> {
    let steps = || bracket.steps().iter().filter(|seen| !seen.dead && seen.facts.rate_per_s > 0.0);
    let lightest = steps().filter(|seen| seen.facts.requests.finished >= 10);
    let base = lightest.min_by(|a, b| a.facts.latency_ms.avg.total_cmp(&b.facts.latency_ms.avg))?;
    let rate_max = steps().map(|seen| seen.facts.rate_per_s * (1.0 - seen.facts.failed_share())).fold(0.0, f64::max);
    let think_s = steps().next_back()?.facts.think_s?;
    let queue = ClosedQueue::fitted(base.facts.latency_ms.avg / 1e3, rate_max, base.facts.latency_cv, think_s);
    (rate_max > 0.0 && base.facts.latency_ms.avg > 0.0).then_some(queue)
}
