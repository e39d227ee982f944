//! What the environment and the command line say instead of the script.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Duration;

use model::plan::{Stage, SummaryMode};

use super::OptionsError;
use super::duration::parse_duration;

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
    /// How much the summary says.
    pub summary_mode: Option<SummaryMode>,
    /// How long `handleSummary()` may take.
    pub handle_summary_timeout: Option<Duration>,
    /// System tags that samples carry.
    pub system_tags: Option<Vec<String>>,
    /// Tags of every sample; replaces the script's map as a whole.
    pub tags: Option<BTreeMap<String, String>>,
    /// Requests per second at most: not supported yet, so [`super::plan`] refuses it by name.
    pub rps: Option<f64>,
}

/// k6's variables for options that cannot be honoured yet.
const NOT_YET: [&str; 24] = [
    "K6_BATCH",
    "K6_BATCH_PER_HOST",
    "K6_BLACKLIST_IPS",
    "K6_BLOCK_HOSTNAMES",
    "K6_COMPATIBILITY_MODE",
    "K6_CONFIG",
    "K6_CONSOLE_OUTPUT",
    "K6_DNS",
    "K6_EXECUTION_SEGMENT",
    "K6_EXECUTION_SEGMENT_SEQUENCE",
    "K6_FEATURES",
    "K6_HOSTS",
    "K6_HTTP_DEBUG",
    "K6_INCLUDE_SYSTEM_ENV_VARS",
    "K6_LINGER",
    "K6_LOCAL_IPS",
    "K6_LOG_FORMAT",
    "K6_LOG_OUTPUT",
    "K6_PAUSED",
    "K6_THRESHOLDS",
    "K6_TLSAUTH",
    "K6_TRACES_OUTPUT",
    "K6_TYPE",
    "K6_WEB_DASHBOARD",
];

impl Overrides {
    /// Reads the `K6_*` variables. An empty one counts as not set.
    ///
    /// # Errors
    /// If a value cannot be read, or if a variable is set that k6 knows and this program does not support yet.
    pub fn from_env(get: impl Fn(&str) -> Option<String>) -> Result<Self, OptionsError> {
        let mut env = Environment { get, mistakes: Vec::new() };
        let overrides = Self {
            vus: env.read("K6_VUS", whole),
            duration: env.read("K6_DURATION", duration),
            iterations: env.read("K6_ITERATIONS", whole),
            stages: env.read("K6_STAGES", parse_stages),
            no_setup: env.read("K6_NO_SETUP", flag),
            no_teardown: env.read("K6_NO_TEARDOWN", flag),
            no_thresholds: env.read("K6_NO_THRESHOLDS", flag),
            setup_timeout: env.read("K6_SETUP_TIMEOUT", duration),
            teardown_timeout: env.read("K6_TEARDOWN_TIMEOUT", duration),
            max_redirects: env.read("K6_MAX_REDIRECTS", whole),
            user_agent: env.read("K6_USER_AGENT", |text| Ok(text.to_owned())),
            throw: env.read("K6_THROW", flag),
            discard_response_bodies: env.read("K6_DISCARD_RESPONSE_BODIES", flag),
            insecure_skip_tls_verify: env.read("K6_INSECURE_SKIP_TLS_VERIFY", flag),
            no_connection_reuse: env.read("K6_NO_CONNECTION_REUSE", flag),
            no_vu_connection_reuse: env.read("K6_NO_VU_CONNECTION_REUSE", flag),
            no_cookies_reset: env.read("K6_NO_COOKIES_RESET", flag),
            min_iteration_duration: env.read("K6_MIN_ITERATION_DURATION", duration),
            summary_trend_stats: env.read("K6_SUMMARY_TREND_STATS", |text| Ok(list(text))),
            summary_time_unit: env.read("K6_SUMMARY_TIME_UNIT", |text| Ok(text.to_owned())),
            summary_mode: env.read("K6_SUMMARY_MODE", parse_summary_mode),
            handle_summary_timeout: env.read("K6_HANDLE_SUMMARY_TIMEOUT", duration),
            system_tags: env.read("K6_SYSTEM_TAGS", |text| Ok(list(text))),
            tags: env.read("K6_TAGS", tags),
            rps: env
                .read("K6_RPS", |text| text.parse().map_err(|_| format!("a number is expected, `{text}` was given"))),
        };
        for name in NOT_YET {
            env.read::<()>(name, |_| Err("this option is not supported yet".to_owned()));
        }
        if env.mistakes.is_empty() { Ok(overrides) } else { Err(OptionsError { mistakes: env.mistakes }) }
    }

    /// These wishes, and where `stronger` has one, that one. Any of duration, iterations and stages in `stronger`
    /// replaces all three.
    #[must_use]
    pub fn merge(mut self, stronger: Self) -> Self {
        if stronger.duration.is_some() || stronger.iterations.is_some() || stronger.stages.is_some() {
            (self.duration, self.iterations, self.stages) = (None, None, None);
        }
        Self {
            vus: stronger.vus.or(self.vus),
            duration: stronger.duration.or(self.duration),
            iterations: stronger.iterations.or(self.iterations),
            stages: stronger.stages.or(self.stages),
            no_setup: stronger.no_setup.or(self.no_setup),
            no_teardown: stronger.no_teardown.or(self.no_teardown),
            no_thresholds: stronger.no_thresholds.or(self.no_thresholds),
            setup_timeout: stronger.setup_timeout.or(self.setup_timeout),
            teardown_timeout: stronger.teardown_timeout.or(self.teardown_timeout),
            max_redirects: stronger.max_redirects.or(self.max_redirects),
            user_agent: stronger.user_agent.or(self.user_agent),
            throw: stronger.throw.or(self.throw),
            discard_response_bodies: stronger.discard_response_bodies.or(self.discard_response_bodies),
            insecure_skip_tls_verify: stronger.insecure_skip_tls_verify.or(self.insecure_skip_tls_verify),
            no_connection_reuse: stronger.no_connection_reuse.or(self.no_connection_reuse),
            no_vu_connection_reuse: stronger.no_vu_connection_reuse.or(self.no_vu_connection_reuse),
            no_cookies_reset: stronger.no_cookies_reset.or(self.no_cookies_reset),
            min_iteration_duration: stronger.min_iteration_duration.or(self.min_iteration_duration),
            summary_trend_stats: stronger.summary_trend_stats.or(self.summary_trend_stats),
            summary_time_unit: stronger.summary_time_unit.or(self.summary_time_unit),
            summary_mode: stronger.summary_mode.or(self.summary_mode),
            handle_summary_timeout: stronger.handle_summary_timeout.or(self.handle_summary_timeout),
            system_tags: stronger.system_tags.or(self.system_tags),
            tags: stronger.tags.or(self.tags),
            rps: stronger.rps.or(self.rps),
        }
    }
}

/// Reads stages in the form of `K6_STAGES` and `--stage`: `10s:5,20s:10`.
///
/// # Errors
/// If a part is not `DURATION:USERS`.
pub fn parse_stages(text: &str) -> Result<Vec<Stage>, String> {
    let stage = |part: &str| {
        let (length, target) = part
            .trim()
            .rsplit_once(':')
            .ok_or_else(|| format!("`10s:5,20s:10` is the form of stages, `{part}` was given"))?;
        Ok(Stage { duration: duration(length)?, target: whole(target)? })
    };
    text.split(',').map(stage).collect()
}

/// Reads a mode of the summary in k6's words.
///
/// # Errors
/// If it is none.
pub fn parse_summary_mode(text: &str) -> Result<SummaryMode, String> {
    Ok(match text {
        "compact" => SummaryMode::Compact,
        "full" => SummaryMode::Full,
        "legacy" => SummaryMode::Legacy,
        "disabled" => SummaryMode::Disabled,
        _ => return Err(format!("compact, full, legacy or disabled is expected, `{text}` was given")),
    })
}

/// The environment, and what is wrong with it.
struct Environment<G> {
    get: G,
    mistakes: Vec<String>,
}

impl<G: Fn(&str) -> Option<String>> Environment<G> {
    fn read<T>(&mut self, name: &str, parse: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        let text = (self.get)(name).filter(|text| !text.is_empty())?;
        parse(&text).map_err(|error| self.mistakes.push(format!("{name}: {error}"))).ok()
    }
}

fn whole<T: FromStr>(text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| format!("a whole number that is not negative is expected, `{text}` was given"))
}

fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text).map_err(|error| error.to_string())
}

fn flag(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(format!("`true` or `false` is expected, `{text}` was given")),
    }
}

pub(super) fn list(text: &str) -> Vec<String> {
    text.split(',').map(|part| part.trim().to_owned()).collect()
}

fn tags(text: &str) -> Result<BTreeMap<String, String>, String> {
    let tag = |part: String| {
        let pair = part.split_once(':').map(|(name, value)| (name.to_owned(), value.to_owned()));
        pair.ok_or_else(|| format!("`name:value,name:value` is the form of tags, `{part}` was given"))
    };
    list(text).into_iter().map(tag).collect()
}
