//! What analysis concludes. A finding names its evidence; a view decides how to show it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Certainty {
    /// Nothing explains what was seen.
    Unknown,
    /// Some evidence.
    Suspected,
    /// Several kinds of evidence that agree.
    Strong,
    /// A counter that moves for no other reason, or an intervention, and the rest agrees.
    Proved,
}

/// One measured fact behind a finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// What was read, by the name of its signal or metric.
    pub signal: String,
    /// What it said.
    pub value: f64,
    /// Unit of the value.
    pub unit: String,
    /// Where it was read: `pg_stat_activity`, `schedstat`, `sock_diag`, …
    pub source: String,
    /// What that means, one clause.
    pub says: String,
}

/// Something that was considered and is not the bottleneck.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuledOut {
    /// Id from the catalogue.
    pub id: String,
    /// Why not, with a number.
    pub because: String,
}

/// What stops the service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bottleneck {
    /// Id from the catalogue.
    pub id: String,
    /// What part of the stack.
    pub subject: String,
    /// How sure.
    pub certainty: Certainty,
    /// One or two plain sentences with the numbers.
    pub sentence: String,
    /// The facts.
    pub evidence: Vec<Evidence>,
    /// What it is not.
    pub ruled_out: Vec<RuledOut>,
}

/// The bottleneck behind the bottleneck.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Next {
    /// Id from the catalogue.
    pub id: String,
    /// What part of the stack.
    pub subject: String,
    /// Requests per second at which it binds.
    pub rate_per_s: f64,
}

/// What a statement about a lever rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// It was tried.
    Measured,
    /// Computed inside the range that was seen.
    Predicted,
    /// Computed beyond it.
    Extrapolated,
}

/// A change that might move the line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lever {
    /// Id from the contract's list.
    pub id: String,
    /// The change in words: `pool 5 -> 20`.
    pub change: String,
    /// Whether it helps.
    pub helps: bool,
    /// Requests per second after it.
    pub rate_per_s: Option<f64>,
    /// Lower end.
    pub rate_per_s_low: Option<f64>,
    /// Upper end.
    pub rate_per_s_high: Option<f64>,
    /// Users under the promise after it.
    pub users: Option<u64>,
    /// What this rests on.
    pub basis: Basis,
    /// Why, in one sentence, and what stops the service then.
    pub says: String,
}

/// Everything that a diagnosis of one step says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// What stops the service.
    pub bottleneck: Bottleneck,
    /// What would stop it next, nearest first.
    pub next: Vec<Next>,
    /// What would move the line, best first, and behind them what would not.
    pub levers: Vec<Lever>,
    /// Parts of the mean response time in milliseconds; always has `unexplained`.
    pub time_budget_ms: BTreeMap<String, f64>,
    /// What the reader should know before trusting this.
    pub caveats: Vec<String>,
}
