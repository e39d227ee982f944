//! What a script asks for, resolved: scenarios, thresholds and request settings. Nobody behind this type needs to
//! know whether the wish came from a script, a flag or a URL.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::expression::{Expression, Promise, Selector};
use crate::metric::{Metric, builtin_metrics};
use crate::network::NetworkSettings;
use crate::segment::Segment;

/// A load test, ready to be offered.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// Script path or URL, as given.
    pub target: String,
    /// All scenarios, in the order of the script.
    pub scenarios: Vec<Scenario>,
    /// Built-in metrics and the script's own; a [`crate::metric::MetricId`] is an index into this list.
    pub metrics: Vec<Metric>,
    /// What makes the run fail.
    pub thresholds: Vec<Threshold>,
    /// What `find` counts sample by sample in every window; empty for `run`.
    pub promises: Vec<Promise>,
    /// How far and how long `find` searches; `None` for `run`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchLimits>,
    /// Tags of every sample.
    pub tags: BTreeMap<String, String>,
    /// Settings of requests.
    pub http: HttpSettings,
    /// How requests reach the service.
    #[serde(default)]
    pub network: NetworkSettings,
    /// Which part of the test is this machine's.
    #[serde(default)]
    pub segment: Segment,
    /// Whether `setup()` exists and is wanted, and how long it may take.
    pub setup: Option<Duration>,
    /// Whether `teardown()` exists and is wanted, and how long it may take.
    pub teardown: Option<Duration>,
    /// Shorter iterations are padded to this length.
    pub min_iteration: Duration,
    /// Statistics that the summary shows of a Trend, as k6 writes them: `avg`, `p(90)`, …
    pub summary_trend_stats: Vec<String>,
    /// Unit of times in the summary: `s`, `ms` or `us`; `None` chooses per value.
    pub summary_time_unit: Option<String>,
    /// How much the summary says.
    #[serde(default)]
    pub summary_mode: SummaryMode,
    /// Whether the script exports `handleSummary()`, and how long it may take.
    #[serde(default)]
    pub handle_summary: Option<Duration>,
    /// System tags of k6 that samples do not carry.
    #[serde(default)]
    pub hidden_tags: Vec<String>,
}

/// How much the end-of-test summary says, in k6's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SummaryMode {
    /// The metrics that matter most.
    #[default]
    Compact,
    /// Every metric, and a block for each scenario and group.
    Full,
    /// k6's older form, one list of metrics.
    Legacy,
    /// Nothing; `handleSummary()` is not called either.
    Disabled,
}

/// How far and how long a search goes: with it a verdict can be computed from a record alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchLimits {
    /// Most users.
    pub users_max: u64,
    /// Time to answer.
    pub budget: Duration,
    /// Shorter steps and a wider range.
    pub quick: bool,
    /// Whether steps may be taken that the memory forecast says will kill the service.
    pub allow_crash: bool,
}

/// Nothing to do: no scenario, the built-in metrics, k6's defaults for the rest.
impl Default for Plan {
    fn default() -> Self {
        Self {
            target: String::new(),
            scenarios: Vec::new(),
            metrics: builtin_metrics(),
            thresholds: Vec::new(),
            promises: Vec::new(),
            search: None,
            tags: BTreeMap::new(),
            http: HttpSettings::default(),
            network: NetworkSettings::default(),
            segment: Segment::default(),
            setup: None,
            teardown: None,
            min_iteration: Duration::ZERO,
            summary_trend_stats: Vec::new(),
            summary_time_unit: None,
            summary_mode: SummaryMode::default(),
            handle_summary: None,
            hidden_tags: Vec::new(),
        }
    }
}

/// Users doing one thing under one executor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// Its name; `default` if the script names none.
    pub name: String,
    /// Who starts iterations, and when.
    pub executor: Executor,
    /// The exported function that is one iteration; `default` if the script names none.
    pub exec: String,
    /// When it begins, counted from the beginning of the load.
    pub start_time: Duration,
    /// How long running iterations may go on behind its end.
    pub graceful_stop: Duration,
    /// Overlays `__ENV` in this scenario.
    pub env: BTreeMap<String, String>,
    /// Tags of this scenario's samples.
    pub tags: BTreeMap<String, String>,
}

/// Who starts iterations, and when. The variants carry k6's names and keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "executor", rename_all = "kebab-case")]
pub enum Executor {
    /// Users take the next iteration from one counter.
    SharedIterations {
        /// Users.
        vus: u32,
        /// Iterations of all users together.
        iterations: u64,
        /// When it ends at the latest.
        max_duration: Duration,
    },
    /// Each user runs its own number of iterations.
    PerVuIterations {
        /// Users.
        vus: u32,
        /// Iterations of each user.
        iterations: u64,
        /// When it ends at the latest.
        max_duration: Duration,
    },
    /// Users loop for a time.
    ConstantVus {
        /// Users.
        vus: u32,
        /// How long.
        duration: Duration,
    },
    /// The number of users follows straight lines between stages.
    RampingVus {
        /// Users at the beginning.
        start_vus: u32,
        /// Targets, one after the other.
        stages: Vec<Stage>,
        /// How long an iteration of a user that is no longer wanted may go on.
        graceful_ramp_down: Duration,
    },
    /// Iterations begin at a fixed rate, whatever the service does.
    ConstantArrivalRate {
        /// Iterations per `time_unit`.
        rate: f64,
        /// See `rate`.
        time_unit: Duration,
        /// How long.
        duration: Duration,
        /// Users made ready before the start.
        pre_allocated_vus: u32,
        /// Users at most.
        max_vus: u32,
    },
    /// Iterations begin at a rate that follows straight lines between stages, whatever the service does.
    RampingArrivalRate {
        /// Iterations per `time_unit` at the beginning.
        start_rate: u32,
        /// See `start_rate`, and the targets.
        time_unit: Duration,
        /// Targets in iterations per `time_unit`, one after the other.
        stages: Vec<Stage>,
        /// Users made ready before the start.
        pre_allocated_vus: u32,
        /// Users at most.
        max_vus: u32,
    },
    /// The number of users is set from outside while it runs: how `find` steers.
    ExternallyControlled {
        /// Users at the beginning.
        #[serde(default)]
        vus: u32,
        /// Users at most.
        max_vus: u32,
        /// How long; `None` never ends by itself.
        #[serde(default)]
        duration: Option<Duration>,
    },
}

/// A straight line to `target`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// How long it takes.
    pub duration: Duration,
    /// Users at its end, or iterations per time unit.
    pub target: u32,
}

impl Executor {
    /// The most users it ever needs at once.
    pub fn max_vus(&self) -> u32 {
        match self {
            Self::SharedIterations { vus, .. } | Self::PerVuIterations { vus, .. } | Self::ConstantVus { vus, .. } => {
                *vus
            }
            Self::RampingVus { start_vus, stages, .. } => {
                stages.iter().map(|stage| stage.target).max().unwrap_or(0).max(*start_vus)
            }
            Self::ConstantArrivalRate { max_vus, .. }
            | Self::RampingArrivalRate { max_vus, .. }
            | Self::ExternallyControlled { max_vus, .. } => *max_vus,
        }
    }

    /// When it stops starting iterations at the latest, counted from its own start; `None` if never by itself.
    pub fn duration(&self) -> Option<Duration> {
        match self {
            Self::SharedIterations { max_duration, .. } | Self::PerVuIterations { max_duration, .. } => {
                Some(*max_duration)
            }
            Self::ConstantVus { duration, .. } | Self::ConstantArrivalRate { duration, .. } => Some(*duration),
            Self::RampingVus { stages, .. } | Self::RampingArrivalRate { stages, .. } => {
                Some(stages.iter().map(|stage| stage.duration).sum())
            }
            Self::ExternallyControlled { duration, .. } => *duration,
        }
    }
}

/// A rule that makes a run fail.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Threshold {
    /// Which samples.
    pub selector: Selector,
    /// What they must satisfy; `None` only makes the submetric visible.
    pub expression: Option<Expression>,
    /// Whether a broken rule ends the run at once.
    pub abort_on_fail: bool,
    /// Run time before which it does not.
    pub delay_abort_eval: Duration,
}

/// Settings that hold for every request unless it says otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HttpSettings {
    /// Value of the User-Agent header.
    pub user_agent: String,
    /// Redirects that are followed.
    pub max_redirects: u32,
    /// How long a request with all its redirects may take.
    pub timeout: Duration,
    /// Whether certificates are taken unseen.
    pub insecure_skip_tls_verify: bool,
    /// Whether every request opens a connection of its own.
    pub no_connection_reuse: bool,
    /// Whether connections end with the iteration.
    pub no_vu_connection_reuse: bool,
    /// Whether cookies outlive the iteration.
    pub no_cookies_reset: bool,
    /// Whether bodies are dropped unless a request asks for them.
    pub discard_response_bodies: bool,
    /// Whether a failed request throws.
    pub throw: bool,
    /// Whether ids in URLs become `{id}` in the `name` tag.
    pub group_names: bool,
    /// Which HTTP is spoken.
    #[serde(default)]
    pub http_version: HttpVersion,
    /// How old a connection may be to take another request; `None` is for ever.
    #[serde(default)]
    pub connection_max_age: Option<Duration>,
    /// How many requests a connection takes; `None` is any number.
    #[serde(default)]
    pub connection_max_requests: Option<u32>,
    /// Bytes of memory that the bodies which one worker is receiving at once may take.
    #[serde(default = "body_bytes_max")]
    pub body_bytes_max: u64,
}

/// Which HTTP is spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HttpVersion {
    /// Over TLS what both sides agree on, HTTP/2 first; HTTP/1.1 else.
    #[default]
    Agreed,
    /// HTTP/1.1 alone.
    Http1,
    /// HTTP/2 alone, also without TLS.
    Http2,
}

/// 512 MiB.
fn body_bytes_max() -> u64 {
    512 << 20
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            user_agent: concat!("plimsoll/", env!("CARGO_PKG_VERSION"), " (like k6/1.1)").to_owned(),
            max_redirects: 10,
            timeout: Duration::from_secs(60),
            insecure_skip_tls_verify: false,
            no_connection_reuse: false,
            no_vu_connection_reuse: false,
            no_cookies_reset: false,
            discard_response_bodies: false,
            throw: false,
            group_names: true,
            http_version: HttpVersion::default(),
            connection_max_age: None,
            connection_max_requests: None,
            body_bytes_max: body_bytes_max(),
        }
    }
}
