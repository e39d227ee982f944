//! The answer of `find`: exactly the JSON document of the contract, `plimsoll.verdict/1`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::finding::{Bottleneck, Lever, Next};

/// The version of the document.
pub const SCHEMA: &str = "plimsoll.verdict/1";

/// The whole answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// [`SCHEMA`].
    pub schema: String,
    /// URL or script.
    pub target: String,
    /// `users` or `rate`.
    pub mode: String,
    /// How long the search took.
    pub duration_s: f64,
    /// The promises, as text.
    pub slo: Vec<String>,
    /// How many users.
    pub capacity: Capacity,
    /// The most that was seen at any step.
    pub peak: Peak,
    /// What stops it.
    pub bottleneck: Bottleneck,
    /// What would stop it next.
    pub next: Vec<Next>,
    /// What would move the line and what would not.
    pub levers: Vec<Lever>,
    /// Parts of the mean response time at the step that was diagnosed.
    pub time_budget_ms: BTreeMap<String, f64>,
    /// All steps, in the order they were taken.
    pub steps: Vec<Step>,
    /// What the reader should know before trusting this.
    pub caveats: Vec<String>,
}

/// How the search for the capacity ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapacityState {
    /// A number with a range.
    Found,
    /// The wall was not reached.
    AtLeast,
    /// One user is too many.
    Floor,
    /// The generator or the machine was the limit first.
    GeneratorLimited,
    /// Time ran out.
    Undecided,
    /// The service died.
    Crashed,
}

/// How many users the service carries under the promise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    /// How the search ended.
    pub state: CapacityState,
    /// Users.
    pub users: u64,
    /// Lower end of the range.
    pub users_low: u64,
    /// Upper end of the range; `None` if nothing bounds it.
    pub users_high: Option<u64>,
    /// Requests per second at that number of users.
    pub rate_per_s: f64,
    /// The promise that broke first.
    pub broken_by: Option<String>,
}

/// The most requests per second that were seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Peak {
    /// At how many users.
    pub users: u64,
    /// How many.
    pub rate_per_s: f64,
}

/// Why a step was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Few users: what everything costs without a queue.
    Baseline,
    /// Doubling until something gives.
    Probe,
    /// Closing in.
    Trial,
    /// The answer, held for longer.
    Confirm,
    /// One step beyond.
    Over,
    /// Back to a good load: does it recover?
    Return,
}

/// One load level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Why it was taken.
    pub phase: Phase,
    /// Users.
    pub users: u64,
    /// Requests that ended per second.
    pub rate_per_s: f64,
    /// Requests that ended.
    pub requests: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Length of the measured part.
    pub duration_s: f64,
    /// Response times.
    pub latency_ms: Latency,
    /// Iterations that were planned and not started.
    pub dropped: u64,
    /// How the generator fared.
    pub generator: GeneratorHealth,
    /// Whether the promise held: `pass`, `fail` or `undecided`.
    pub promise: Judgement,
}

/// Whether a promise held in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Judgement {
    /// Surely kept.
    Pass,
    /// Surely broken.
    Fail,
    /// Too close or too noisy to say.
    Undecided,
}

/// Response times in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Mean.
    pub avg: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Largest.
    pub max: f64,
}

/// How the generator fared.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GeneratorHealth {
    /// Cores it used.
    pub cpu_cores: f64,
    /// How late planned work began, 99th percentile.
    pub late_ms_p99: f64,
    /// Whether the step may count.
    pub gate: Gate,
}

/// Whether a step may count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Gate {
    /// The generator kept up.
    Green,
    /// It did not: the step is a lower bound at best.
    Red,
}
