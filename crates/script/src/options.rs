//! k6's options become a [`Plan`]: what the script exports, what the environment and the command line say instead,
//! and k6's defaults for the rest. Never ignores in silence what it knows of k6 and cannot do.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use model::metric::{Metric, builtin_metrics};
use model::plan::{HttpSettings, Plan, Threshold};
use serde_json::{Map, Value};

use read::{Fields, Notes, expected};

mod consolidated;
mod duration;
mod overrides;
mod read;
mod scenario;
mod shortcut;
mod threshold;

pub(crate) use consolidated::consolidated;
pub use duration::{DurationError, parse_duration};
pub use overrides::{Overrides, parse_stages};

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

/// k6's options that would change the test and cannot be honoured yet.
const NOT_YET: [&str; 22] = [
    "batch",
    "batchPerHost",
    "blacklistIPs",
    "blockHostnames",
    "consoleOutput",
    "dns",
    "executionSegment",
    "executionSegmentSequence",
    "features",
    "handleSummaryTimeout",
    "hosts",
    "httpDebug",
    "linger",
    "localIPs",
    "out",
    "paused",
    "rps",
    "tlsAuth",
    "tlsCipherSuites",
    "tlsVersion",
    "webDashboard",
    "collectors",
];

/// Options that change nothing in a run on this machine: k6's own services, and the size of a buffer that is not here.
const WITHOUT_EFFECT: [&str; 4] = ["cloud", "ext", "metricSamplesBufferSize", "noUsageReport"];

/// System tags that k6 sets unless told otherwise, and that every sample has here.
const SYSTEM_TAGS: [&str; 14] = [
    "proto",
    "subproto",
    "status",
    "method",
    "url",
    "name",
    "group",
    "check",
    "error",
    "error_code",
    "tls_version",
    "scenario",
    "service",
    "expected_response",
];

const TREND_STATS: [&str; 6] = ["avg", "min", "med", "max", "p(90)", "p(95)"];

/// How long `setup()` and `teardown()` may take, unless the script says otherwise.
const STAGE_TIMEOUT: Duration = Duration::from_secs(60);

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
    let mut notes = Notes::default();
    let nothing = Map::new();
    let map = match options {
        Value::Null => &nothing,
        Value::Object(map) => map,
        other => {
            notes.mistake(expected("the export `options`", "an object", other));
            &nothing
        }
    };
    let top = &mut Fields::new("option", map);
    let mut metrics = builtin_metrics();
    metrics.extend(facts.metrics.iter().cloned());
    let plan = Plan {
        target: target.to_owned(),
        scenarios: shortcut::choose(top, overrides, facts, &mut notes),
        thresholds: thresholds(top, &metrics, overrides, &mut notes),
        metrics,
        promises: Vec::new(),
        search: None,
        tags: overrides.tags.clone().or(top.text_map(&mut notes, "tags")).unwrap_or_default(),
        http: http(top, overrides, &mut notes),
        setup: stage(top, facts, &SETUP, (overrides.no_setup, overrides.setup_timeout), &mut notes),
        teardown: stage(top, facts, &TEARDOWN, (overrides.no_teardown, overrides.teardown_timeout), &mut notes),
        min_iteration: overrides
            .min_iteration_duration
            .or(top.duration(&mut notes, "minIterationDuration"))
            .unwrap_or_default(),
        summary_trend_stats: trend_stats(top, overrides, &mut notes),
        summary_time_unit: time_unit(top, overrides, &mut notes),
    };
    refuse_unsupported(top, facts, overrides, &mut notes);
    for unknown in top.unknown() {
        notes.warning(format!("there is no option `{unknown}`: it is ignored"));
    }
    if notes.mistakes.is_empty() { Ok((plan, notes.warnings)) } else { Err(OptionsError { mistakes: notes.mistakes }) }
}

fn thresholds(top: &mut Fields<'_>, metrics: &[Metric], overrides: &Overrides, notes: &mut Notes) -> Vec<Threshold> {
    match top.object(notes, "thresholds") {
        Some(map) if overrides.no_thresholds != Some(true) => threshold::thresholds(map, metrics, notes),
        _ => Vec::new(),
    }
}

/// `setup()` or `teardown()`: its name, the option that leaves it out, the option that bounds it.
struct StageOfTest {
    name: &'static str,
    leave_out: &'static str,
    timeout: &'static str,
}

const SETUP: StageOfTest = StageOfTest { name: "setup", leave_out: "noSetup", timeout: "setupTimeout" };
const TEARDOWN: StageOfTest = StageOfTest { name: "teardown", leave_out: "noTeardown", timeout: "teardownTimeout" };

fn stage(
    top: &mut Fields<'_>,
    facts: &ScriptFacts,
    stage: &StageOfTest,
    (no, timeout): (Option<bool>, Option<Duration>),
    notes: &mut Notes,
) -> Option<Duration> {
    let no = no.or(top.flag(notes, stage.leave_out)).unwrap_or(false);
    let timeout = timeout.or(top.duration(notes, stage.timeout)).unwrap_or(STAGE_TIMEOUT);
    (!no && facts.exports.iter().any(|name| name == stage.name)).then_some(timeout)
}

fn http(top: &mut Fields<'_>, overrides: &Overrides, notes: &mut Notes) -> HttpSettings {
    let default = HttpSettings::default();
    let mut flag = |stronger: Option<bool>, key| stronger.or(top.flag(notes, key)).unwrap_or(false);
    let insecure_skip_tls_verify = flag(overrides.insecure_skip_tls_verify, "insecureSkipTLSVerify");
    let no_connection_reuse = flag(overrides.no_connection_reuse, "noConnectionReuse");
    let no_vu_connection_reuse = flag(overrides.no_vu_connection_reuse, "noVUConnectionReuse");
    let no_cookies_reset = flag(overrides.no_cookies_reset, "noCookiesReset");
    let discard_response_bodies = flag(overrides.discard_response_bodies, "discardResponseBodies");
    let throw = flag(overrides.throw, "throw");
    let user_agent = top.text(notes, "userAgent").map(str::to_owned);
    let max_redirects = top.users(notes, "maxRedirects");
    HttpSettings {
        user_agent: overrides.user_agent.clone().or(user_agent).unwrap_or(default.user_agent),
        max_redirects: overrides.max_redirects.or(max_redirects).unwrap_or(default.max_redirects),
        insecure_skip_tls_verify,
        no_connection_reuse,
        no_vu_connection_reuse,
        no_cookies_reset,
        discard_response_bodies,
        throw,
        ..default
    }
}

fn trend_stats(top: &mut Fields<'_>, overrides: &Overrides, notes: &mut Notes) -> Vec<String> {
    let script = top.texts(notes, "summaryTrendStats");
    let stats = overrides.summary_trend_stats.clone().or(script);
    let stats = stats.unwrap_or_else(|| TREND_STATS.map(str::to_owned).to_vec());
    threshold::check_trend_stats(&stats, notes);
    stats
}

fn time_unit(top: &mut Fields<'_>, overrides: &Overrides, notes: &mut Notes) -> Option<String> {
    let script = top.text(notes, "summaryTimeUnit").map(str::to_owned);
    let unit = overrides.summary_time_unit.clone().or(script).filter(|unit| !unit.is_empty())?;
    if !["s", "ms", "us"].contains(&unit.as_str()) {
        notes.mistake(format!("option `summaryTimeUnit`: `{unit}` is none of s, ms and us"));
    }
    Some(unit)
}

/// Notes a mistake for everything that k6 could do and this program cannot yet.
fn refuse_unsupported(top: &mut Fields<'_>, facts: &ScriptFacts, overrides: &Overrides, notes: &mut Notes) {
    for key in NOT_YET {
        if top.value(key).is_some_and(|value| !is_unset(value)) || (key == "rps" && overrides.rps.is_some()) {
            notes.mistake(format!("option `{key}` is not supported yet"));
        }
    }
    if let Some(tags) = top.texts(notes, "systemTags") {
        let wanted: BTreeSet<&str> = tags.iter().map(String::as_str).collect();
        if wanted != BTreeSet::from(SYSTEM_TAGS) {
            notes.mistake("option `systemTags` is not supported yet");
        }
    }
    for key in WITHOUT_EFFECT {
        top.value(key);
    }
    if facts.exports.iter().any(|name| name == "handleSummary") {
        notes.mistake("the export `handleSummary()` is not supported yet");
    }
}

/// Whether a value asks for nothing.
fn is_unset(value: &Value) -> bool {
    match value {
        Value::Bool(wanted) => !wanted,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Null => true,
    }
}

#[cfg(test)]
mod tests;
