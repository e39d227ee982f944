//! The answer of `plimsoll lab`: the story's table for this machine, `plimsoll.lab/1` of the contract.

use serde::{Deserialize, Serialize};

use crate::record::Machine;
use crate::verdict::{Latency, Verdict};

/// The version of the document.
pub const SCHEMA: &str = "plimsoll.lab/1";

/// The whole answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabReport {
    /// [`SCHEMA`].
    pub schema: String,
    /// `laptop` or `signin`.
    pub story: String,
    /// This machine.
    pub machine: Machine,
    /// The story's table.
    pub rows: Vec<LabRow>,
    /// One verdict for each stage that ran, in the order of the stages.
    pub verdicts: Vec<Verdict>,
    /// For each stage that ran, one plain sentence why: stage and sentence.
    pub because: Vec<(String, String)>,
}

/// One line of the story's table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LabRow {
    /// `age-local`, `uuid-local`, `uuid-remote`.
    pub stage: String,
    /// Users.
    pub users: u64,
    /// Requests that ended per second.
    pub rate_per_s: f64,
    /// Requests that ended.
    pub requests: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Response times.
    pub latency_ms: Latency,
    /// Id of what stopped it, `pattern.none` below the limit; `None` if the stage cannot run.
    pub bottleneck: Option<String>,
    /// Why this stage cannot run on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
}
