//! k6's options become a [`Plan`]: what the script exports, what the environment and the command line say instead,
//! and k6's defaults for the rest. Never ignores in silence what it knows of k6 and cannot do.

use std::fmt;
use std::time::Duration;

use model::metric::{Metric, builtin_metrics};
use model::plan::{HttpSettings, Plan, Threshold};
use model::segment::Segment;
use serde_json::{Map, Value};

use read::{Fields, Notes, expected};

mod duration;
mod levels;
mod network;
mod overrides;
mod read;
mod scenario;
mod shortcut;
mod system_tags;
mod threshold;

pub use duration::{DurationError, parse_duration};
pub use overrides::{Overrides, parse_stages, parse_summary_mode};

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
const NOT_YET: [&str; 4] = ["features", "out", "webDashboard", "collectors"];

/// Options that change nothing in a run on this machine: k6's own services, the size of a
/// buffer that is not here, and what the command line reads itself.
const WITHOUT_EFFECT: [&str; 5] = ["cloud", "ext", "metricSamplesBufferSize", "noUsageReport", "consoleOutput"];

const TREND_STATS: [&str; 6] = ["avg", "min", "med", "max", "p(90)", "p(95)"];

/// How long `setup()` and `teardown()` may take, unless the script says otherwise.
const STAGE_TIMEOUT: Duration = Duration::from_secs(60);
/// The same for `handleSummary()`.
const SUMMARY_TIMEOUT: Duration = Duration::from_secs(120);

/// What came of all options together.
#[derive(Debug)]
pub struct Planned {
    /// What is offered, and how.
    pub plan: Plan,
    /// One sentence each.
    pub warnings: Vec<String>,
    /// What `test.options` of `k6/execution` shows.
    pub options: Value,
    /// What each user's exported `options` must be given, since it says otherwise.
    pub changes: Value,
}

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
) -> Result<Planned, OptionsError> {
    let mut notes = Notes::default();
    let nothing = Map::new();
    let script = match options {
        Value::Null => &nothing,
        Value::Object(map) => map,
        other => {
            notes.mistake(expected("the export `options`", "an object", other));
            &nothing
        }
    };
    let merged = levels::merged(script, overrides, &mut notes);
    let top = &mut Fields::new("option", &merged);
    let mut metrics = builtin_metrics();
    metrics.extend(facts.metrics.iter().cloned());
    let chosen = shortcut::choose(top, facts, &mut notes);
    let options = levels::consolidated(&merged, chosen.first());
    let plan = Plan {
        target: target.to_owned(),
        scenarios: shortcut::only(chosen, overrides, &mut notes),
        thresholds: thresholds(top, &metrics, overrides, &mut notes),
        metrics,
        promises: Vec::new(),
        search: None,
        tags: top.text_map(&mut notes, "tags").unwrap_or_default(),
        http: http(top, &mut notes),
        network: network::network(top, &mut notes),
        segment: segment(top, &mut notes),
        setup: stage(top, facts, &SETUP, &mut notes),
        teardown: stage(top, facts, &TEARDOWN, &mut notes),
        min_iteration: top.duration(&mut notes, "minIterationDuration").unwrap_or_default(),
        summary_trend_stats: trend_stats(top, &mut notes),
        summary_time_unit: time_unit(top, &mut notes),
        summary_mode: overrides.summary_mode.unwrap_or_default(),
        handle_summary: handle_summary(top, facts, &mut notes),
        hidden_tags: system_tags::hidden(top, &mut notes),
    };
    refuse_unsupported(top, &mut notes);
    for unknown in top.unknown() {
        notes.warning(format!("there is no option `{unknown}`: it is ignored"));
    }
    if !notes.mistakes.is_empty() {
        return Err(OptionsError { mistakes: notes.mistakes });
    }
    let changes = levels::changes(script, &merged);
    Ok(Planned { plan, warnings: notes.warnings, options: options.into(), changes: changes.into() })
}

/// Which part of the test is this machine's.
fn segment(top: &mut Fields<'_>, notes: &mut Notes) -> Segment {
    let given = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(str::to_owned);
    let segment = given(top.text(notes, "executionSegment"));
    let sequence = given(top.text(notes, "executionSegmentSequence"));
    let parsed = Segment::parse(segment.as_deref(), sequence.as_deref());
    let parsed = parsed.map_err(|error| notes.mistake(format!("option `executionSegment`: {error}")));
    parsed.unwrap_or_default()
}

fn thresholds(top: &mut Fields<'_>, metrics: &[Metric], overrides: &Overrides, notes: &mut Notes) -> Vec<Threshold> {
    match top.object(notes, "thresholds") {
        Some(map) if !overrides.no_thresholds => threshold::thresholds(map, metrics, notes),
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

fn stage(top: &mut Fields<'_>, facts: &ScriptFacts, stage: &StageOfTest, notes: &mut Notes) -> Option<Duration> {
    let no = top.flag(notes, stage.leave_out).unwrap_or(false);
    let timeout = top.duration(notes, stage.timeout).unwrap_or(STAGE_TIMEOUT);
    (!no && facts.exports.iter().any(|name| name == stage.name)).then_some(timeout)
}

/// How long `handleSummary()` may take, if the script exports it.
fn handle_summary(top: &mut Fields<'_>, facts: &ScriptFacts, notes: &mut Notes) -> Option<Duration> {
    let timeout = top.duration(notes, "handleSummaryTimeout").unwrap_or(SUMMARY_TIMEOUT);
    facts.exports.iter().any(|name| name == "handleSummary").then_some(timeout)
}

fn http(top: &mut Fields<'_>, notes: &mut Notes) -> HttpSettings {
    let default = HttpSettings::default();
    let mut flag = |key| top.flag(notes, key).unwrap_or(false);
    let insecure_skip_tls_verify = flag("insecureSkipTLSVerify");
    let no_connection_reuse = flag("noConnectionReuse");
    let no_vu_connection_reuse = flag("noVUConnectionReuse");
    let no_cookies_reset = flag("noCookiesReset");
    let discard_response_bodies = flag("discardResponseBodies");
    let throw = flag("throw");
    let user_agent = top.text(notes, "userAgent").map(str::to_owned);
    let max_redirects = top.users(notes, "maxRedirects");
    HttpSettings {
        user_agent: user_agent.unwrap_or(default.user_agent),
        max_redirects: max_redirects.unwrap_or(default.max_redirects),
        insecure_skip_tls_verify,
        no_connection_reuse,
        no_vu_connection_reuse,
        no_cookies_reset,
        discard_response_bodies,
        throw,
        ..default
    }
}

fn trend_stats(top: &mut Fields<'_>, notes: &mut Notes) -> Vec<String> {
    let stats = top.texts(notes, "summaryTrendStats");
    let stats = stats.unwrap_or_else(|| TREND_STATS.map(str::to_owned).to_vec());
    threshold::check_trend_stats(&stats, notes);
    stats
}

fn time_unit(top: &mut Fields<'_>, notes: &mut Notes) -> Option<String> {
    let unit = top.text(notes, "summaryTimeUnit").filter(|unit| !unit.is_empty())?.to_owned();
    if !["s", "ms", "us"].contains(&unit.as_str()) {
        notes.mistake(format!("option `summaryTimeUnit`: `{unit}` is none of s, ms and us"));
    }
    Some(unit)
}

/// Notes a mistake for everything that k6 could do and this program cannot yet.
fn refuse_unsupported(top: &mut Fields<'_>, notes: &mut Notes) {
    for key in NOT_YET {
        if top.value(key).is_some_and(|value| !is_unset(value)) {
            notes.mistake(format!("option `{key}` is not supported yet"));
        }
    }
    if top.flag(notes, "paused") == Some(true) {
        notes.mistake("option `paused`: a run begins at once, since there is no REST server that could let it go on");
    }
    if top.flag(notes, "linger") == Some(true) {
        notes.mistake("option `linger`: a run ends with its end, since there is no REST server to stay for");
    }
    for key in WITHOUT_EFFECT {
        top.value(key);
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
