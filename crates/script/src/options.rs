//! k6's options become a [`Plan`]: what the script exports, what the environment and the command line say instead,
//! and k6's defaults for the rest. Never ignores in silence what it knows of k6 and cannot do.

use std::fmt;

use model::metric::Metric;
use model::plan::Plan;
use serde_json::Value;

mod duration;
mod overrides;

pub use duration::{DurationError, parse_duration};
pub use overrides::Overrides;

/// What the script's first run of its init code showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptFacts {
    /// Names of all exported functions: `default`, `setup`, …
    pub exports: Vec<String>,
    /// Its own metrics, in the order of creation.
    pub metrics: Vec<Metric>,
}

/// Everything that is wrong with the options, one sentence each (k6's exit code 104).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionsError {
    /// One sentence each, naming the key, what was given and what is expected.
    pub mistakes: Vec<String>,
}

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mistakes.as_slice() {
            [only] => f.write_str(only),
            all => write!(f, "{} mistakes in the options:\n  - {}", all.len(), all.join("\n  - ")),
        }
    }
}

impl std::error::Error for OptionsError {}

/// Makes the plan of `target` from the script's `options` (`null` if it exports none) and what overrides them, and
/// collects warnings, one sentence each.
///
/// # Errors
/// If anything is wrong; all mistakes are reported together.
pub fn plan(
    target: &str,
    options: &Value,
    facts: &ScriptFacts,
    overrides: &Overrides,
) -> Result<(Plan, Vec<String>), OptionsError> {
    let _ = (target, options, facts, overrides);
    Err(OptionsError { mistakes: vec!["plans are being built".to_owned()] })
}
