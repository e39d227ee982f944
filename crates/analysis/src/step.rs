//! What one step says: rates, response times, whether each promise held, whether the step was steady and whether the
//! generator may be believed. Never decides what to do next.

pub(crate) mod gate;
mod promise;
mod steady;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use model::expression::{Breaks, Promise};
use model::histogram::Histogram;
use model::record::{RunRecord, StepSpan};
use model::unit::{Interval, Moment};
use model::verdict::{Gate, GeneratorHealth, Judgement, Latency, Step};
use model::window::{Requests, Window};

pub use promise::PromiseFact;

/// Everything that the engine's windows say about one step.
#[derive(Clone, Debug)]
pub struct StepFacts {
    /// Which step.
    pub span: StepSpan,
    /// Seconds that were measured: the sum of the windows, not the wish.
    pub seconds: f64,
    /// How many windows there are.
    pub windows: usize,
    /// All requests of the step.
    pub requests: Requests,
    /// Failed requests by cause.
    pub errors: BTreeMap<String, u64>,
    /// Response times, failed requests included.
    pub latency_ms: Latency,
    /// Coefficient of variation of the response times.
    pub latency_cv: f64,
    /// Requests that ended per second.
    pub rate_per_s: f64,
    /// Iterations that ended per second.
    pub iterations_per_s: f64,
    /// Mean length of an iteration in seconds, thinking included.
    pub iteration_s: f64,
    /// Mean number of iterations under way.
    pub active_mean: f64,
    /// Mean number of requests that wait for an answer.
    pub in_flight_mean: f64,
    /// Mean time before a request could be written (waiting for a connection, connecting), in milliseconds.
    pub blocked_ms: f64,
    /// Mean time of connecting per request, in milliseconds.
    pub connecting_ms: f64,
    /// New connections per second.
    pub connections_per_s: f64,
    /// Mean number of open connections.
    pub connections_mean: f64,
    /// Time per request that users neither wait for an answer nor for a connection: Z in R + Z = N / X, in seconds.
    pub think_s: Option<f64>,
    /// Iterations that were planned and not started.
    pub dropped: u64,
    /// Each promise that can be counted.
    pub promises: Vec<PromiseFact>,
    /// All promises together.
    pub promise: Judgement,
    /// Whether requests piled up during the step: more load than the service takes, whatever the response times say.
    pub overload: bool,
    /// Users that got no answer for longer than the step; `None` if there are hardly any or the step is too short to say.
    /// They are in no response time.
    pub unanswered: Option<f64>,
    /// Requests under way that those that ended account for: never more than there were, or the measurement is wrong.
    pub answered: f64,
    /// How the generator fared.
    pub generator: GeneratorHealth,
    /// Why the gate is red, in words; empty if it is green.
    pub gate_because: Vec<String>,
    /// What the reader should know about this step.
    pub caveats: Vec<String>,
}

/// Measures a step. A step without windows has zeros everywhere and [`Judgement::Undecided`].
pub fn measure(record: &RunRecord, span: &StepSpan) -> StepFacts {
    let windows = within(&record.windows, span.measured);
    let promises = record.plan.as_ref().map_or(&[][..], |plan| &plan.promises);
    let mut facts = sum_up(&windows, span);
    facts.overload = steady::overload(&windows);
    let accounts = steady::accounts(&windows, &facts);
    (facts.answered, facts.unanswered) = (accounts.answered, accounts.unanswered);
    facts.promises = promise::judge_all(promises, &windows, &facts);
    facts.promise = promise::together(&facts.promises);
    gate::judge(record, &windows, &mut facts);
    steady::distrust(&windows, &mut facts);
    facts.caveats.extend(promise::caveats(promises, &facts.promises));
    facts
}

impl StepFacts {
    /// The step as the verdict shows it.
    pub fn to_step(&self) -> Step {
        Step {
            phase: self.span.phase,
            users: self.span.users,
            rate_per_s: self.rate_per_s,
            requests: self.requests.finished,
            failed: self.requests.failed,
            duration_s: self.seconds,
            latency_ms: self.latency_ms,
            dropped: self.dropped,
            generator: self.generator,
            promise: self.promise,
        }
    }

    /// The promise that was broken worst: surely if one was, else the one nearest to it.
    pub fn worst(&self) -> Option<&PromiseFact> {
        let is_broken = |fact: &PromiseFact| fact.judgement == Judgement::Fail;
        // Reversed, so that of equals the first promise counts.
        let facts = self.promises.iter().rev();
        facts.max_by(|a, b| is_broken(a).cmp(&is_broken(b)).then(a.excess().total_cmp(&b.excess())))
    }

    /// Why most of the failed requests failed, in the engine's words: `status 404`.
    pub(crate) fn main_cause(&self) -> Option<&str> {
        self.errors.iter().max_by_key(|(_, count)| **count).map(|(cause, _)| cause.as_str())
    }

    /// The share of requests that failed.
    pub fn failed_share(&self) -> f64 {
        if self.requests.finished == 0 { 0.0 } else { self.requests.failed as f64 / self.requests.finished as f64 }
    }

    /// The share of users that got no answer for longer than the step.
    pub fn unanswered_share(&self) -> f64 {
        let users = self.active_mean.min(self.span.users as f64).max(1e-9);
        self.unanswered.map_or(0.0, |unanswered| (unanswered / users).min(1.0))
    }

    /// Mean response time plus the wait for a connection: all that a user waits for one request, in milliseconds.
    pub fn wait_ms(&self) -> f64 {
        self.latency_ms.avg + self.blocked_ms
    }

    /// Whether the generator may be believed.
    pub fn is_green(&self) -> bool {
        self.generator.gate == Gate::Green
    }

    /// The response time that the promise on it speaks of, in milliseconds: the percentile that must stay below
    /// [`latency_limit`].
    pub fn promised_latency_ms(&self, limit: LatencyLimit) -> f64 {
        self.requests.duration.percentile_ms((1.0 - limit.allowed) * 100.0)
    }
}

/// The first promise on response times of all requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyLimit {
    /// The limit in milliseconds.
    pub limit_ms: f64,
    /// The share of requests that may exceed it.
    pub allowed: f64,
}

/// The promise on response times that the queue model of the search speaks about; `None` if there is none.
pub fn latency_limit(promises: &[Promise]) -> Option<LatencyLimit> {
    promises.iter().filter(|promise| promise.selector.metric == "http_req_duration").find_map(|promise| {
        let exceedance = promise.exceedance()?;
        match exceedance.breaks {
            Breaks::Over(limit_ms) => Some(LatencyLimit { limit_ms, allowed: exceedance.allowed }),
            Breaks::NonZero | Breaks::Zero => None,
        }
    })
}

/// Requests per second of a step that ended well.
pub(crate) fn answered_per_s(record: &RunRecord, span: &StepSpan) -> f64 {
    let windows = within(&record.windows, span.measured);
    let seconds: f64 = windows.iter().map(|window| window.interval.seconds()).sum();
    let answered: u64 =
        windows.iter().map(|window| window.requests.finished.saturating_sub(window.requests.failed)).sum();
    if seconds > 0.0 { answered as f64 / seconds } else { 0.0 }
}

/// The windows whose middle lies inside `interval`.
pub(crate) fn within(windows: &[Window], interval: Interval) -> Vec<&Window> {
    let middle = |window: &Window| Moment(u64::midpoint(window.interval.from.0, window.interval.to.0));
    windows.iter().filter(|window| interval.contains(middle(window))).collect()
}

fn sum_up(windows: &[&Window], span: &StepSpan) -> StepFacts {
    let seconds: f64 = windows.iter().map(|window| window.interval.seconds()).sum();
    let mut requests = Requests::default();
    let (mut errors, mut iterations) = (BTreeMap::new(), Histogram::default());
    for window in windows {
        requests.merge(&window.requests);
        iterations.merge(&window.iteration_duration);
        for (cause, count) in &window.errors {
            *errors.entry(cause.clone()).or_insert(0) += count;
        }
    }
    let mean = |value: fn(&Window) -> f64| {
        if seconds > 0.0 { windows.iter().map(|w| value(w) * w.interval.seconds()).sum::<f64>() / seconds } else { 0.0 }
    };
    let total = |value: fn(&Window) -> u64| windows.iter().map(|window| value(window)).sum::<u64>();
    let per_second = |count: u64| if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
    let per_request = |sum: f64| if requests.finished > 0 { sum / requests.finished as f64 } else { 0.0 };
    let latency_ms = latency(&requests.duration);
    let (rate_per_s, active_mean) = (per_second(requests.finished), mean(|window| window.active_mean));
    let blocked_ms = per_request(requests.blocked_ms_sum);
    let think = (rate_per_s > 0.0 && active_mean > 0.0)
        .then(|| (active_mean / rate_per_s - (latency_ms.avg + blocked_ms) / 1e3).max(0.0));
    StepFacts {
        span: *span,
        seconds,
        windows: windows.len(),
        latency_cv: if latency_ms.avg > 0.0 { requests.duration.stdev_ms() / latency_ms.avg } else { 0.0 },
        rate_per_s,
        iterations_per_s: per_second(total(|window| window.iterations)),
        iteration_s: iterations.mean_ms() / 1e3,
        active_mean,
        in_flight_mean: mean(|window| window.in_flight_mean),
        blocked_ms,
        connecting_ms: per_request(requests.connecting_ms_sum),
        connections_per_s: per_second(total(|window| window.connections_opened)),
        connections_mean: mean(|window| window.connections_open as f64),
        think_s: think,
        dropped: total(|window| window.dropped),
        requests,
        errors,
        latency_ms,
        promises: Vec::new(),
        promise: Judgement::Undecided,
        overload: false,
        unanswered: None,
        answered: 0.0,
        generator: GeneratorHealth { cpu_cores: 0.0, late_ms_p99: 0.0, gate: Gate::Green },
        gate_because: Vec::new(),
        caveats: Vec::new(),
    }
}

fn latency(durations: &Histogram) -> Latency {
    Latency {
        avg: durations.mean_ms(),
        p50: durations.percentile_ms(50.0),
        p90: durations.percentile_ms(90.0),
        p95: durations.percentile_ms(95.0),
        p99: durations.percentile_ms(99.0),
        max: durations.max_ms(),
    }
}
