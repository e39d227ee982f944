//! What the command line, the environment and a config file say about options. Reads no clock and starts nothing.

use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use model::plan::SummaryMode;
use script::options::Overrides;
use serde_json::{Map, Value};

use super::{options_failure, pairs};
use crate::args;
use crate::exit::{Exit, Failure};
use crate::output::{LogFormat, Output, Sink};

/// Features of k6 2.x that are nothing new here: histograms are always used.
const FEATURES: [&str; 1] = ["native-histograms"];

/// What flags of k6 ask for that is not to be had: one sentence each.
pub(super) fn refuse(typed: &args::Run, mistakes: &mut Vec<String>) {
    let k6 = &typed.k6;
    let no_server = "there is no REST server";
    if k6.linger {
        mistakes.push(format!("--linger is not supported: a run ends with its end, since {no_server} to stay for"));
    }
    if k6.paused {
        mistakes.push(format!("--paused is not supported: a run begins at once, since {no_server} to resume it"));
    }
    if k6.profiling_enabled {
        mistakes.push(format!("--profiling-enabled is not supported: {no_server} to read profiles from"));
    }
    if k6.traces_output.as_deref().is_some_and(|output| !output.is_empty() && output != "none") {
        mistakes.push("--traces-output is not supported: only `none` is".to_owned());
    }
    for feature in k6.features.iter().filter(|name| !name.is_empty() && !FEATURES.contains(&name.as_str())) {
        mistakes.push(format!("--features: `{feature}` is not supported, only {}", FEATURES.join(", ")));
    }
}

/// A flag that makes no sense: k6's code for it is 255.
fn wrong_flag(sentence: impl Into<String>) -> Failure {
    Failure::new(Exit::Other, sentence)
}

/// Options from everywhere but the script.
///
/// # Errors
/// 255 for a wrong flag; 104 for a wrong variable or config file.
pub(super) fn overrides(typed: &args::Run) -> Result<Overrides, Failure> {
    let mut overrides = Overrides::from_env(|name| std::env::var(name).ok()).map_err(options_failure)?;
    if let Some(path) = typed.k6.config.as_deref().filter(|path| !path.as_os_str().is_empty()) {
        read_config(path, &mut overrides)?;
    }
    if let Some(mode) = typed.k6.compatibility_mode.as_deref()
        && !["", "extended", "base", "experimental_enhanced"].contains(&mode)
    {
        return Err(wrong_flag(format!("--compatibility-mode: `{mode}` is none of extended and base")));
    }
    overrides.no_thresholds |= typed.no_thresholds;
    overrides.scenario.clone_from(&typed.k6.scenario);
    overrides.once = typed.k6.once;
    overrides.summary_mode = summary_mode(typed)?.or(overrides.summary_mode);
    flags(typed, &mut overrides)?;
    overrides.check_flags().map_err(|error| wrong_flag(error.to_string()))?;
    Ok(overrides)
}

fn read_config(path: &Path, overrides: &mut Overrides) -> Result<(), Failure> {
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read the config file {shown}"));
    let text = text.map_err(|error| Failure { exit: Exit::InvalidConfig, error })?;
    overrides.read_file(&shown, &text).map_err(options_failure)
}

fn summary_mode(typed: &args::Run) -> Result<Option<SummaryMode>, Failure> {
    if typed.no_summary {
        return Ok(Some(SummaryMode::Disabled));
    }
    let mode = typed.summary_mode.as_deref().map(script::options::parse_summary_mode).transpose();
    mode.map_err(|error| Failure::config(format!("--summary-mode: {error}")))
}

/// A duration as it is written in options.
fn text_of(length: Duration) -> String {
    match length.as_nanos() {
        ns if ns.is_multiple_of(1_000_000_000) => format!("{}s", ns / 1_000_000_000),
        ns if ns.is_multiple_of(1_000_000) => format!("{}ms", ns / 1_000_000),
        ns => format!("{ns}ns"),
    }
}

fn flags(typed: &args::Run, overrides: &mut Overrides) -> Result<(), Failure> {
    let given = |flag: bool| flag.then_some(true);
    let listed = |list: &[String]| (!list.is_empty()).then(|| Value::from(list.to_vec()));
    let network = &typed.network;
    overrides.flag("vus", typed.vus);
    overrides.flag("duration", typed.duration.map(text_of));
    overrides.flag("iterations", typed.iterations);
    overrides.flag("noSetup", given(typed.no_setup));
    overrides.flag("noTeardown", given(typed.no_teardown));
    overrides.flag("maxRedirects", typed.max_redirects);
    overrides.flag("userAgent", typed.user_agent.clone());
    overrides.flag("throw", given(typed.throw));
    overrides.flag("discardResponseBodies", given(typed.discard_response_bodies));
    overrides.flag("insecureSkipTLSVerify", given(typed.insecure_skip_tls_verify));
    overrides.flag("noConnectionReuse", given(typed.no_connection_reuse));
    overrides.flag("noVUConnectionReuse", given(typed.no_vu_connection_reuse));
    overrides.flag("minIterationDuration", typed.min_iteration_duration.map(text_of));
    overrides.flag("summaryTrendStats", typed.summary_trend_stats.clone());
    overrides.flag("summaryTimeUnit", typed.summary_time_unit.clone());
    overrides.flag("systemTags", typed.system_tags.clone());
    overrides.flag("rps", network.rps);
    overrides.flag("batch", network.batch);
    overrides.flag("batchPerHost", network.batch_per_host);
    overrides.flag("blacklistIPs", listed(&network.blacklist_ip));
    overrides.flag("blockHostnames", listed(&network.block_hostnames));
    overrides.flag("localIPs", network.local_ips.clone());
    overrides.flag("httpDebug", network.http_debug.clone());
    overrides.flag("executionSegment", network.execution_segment.clone());
    overrides.flag("executionSegmentSequence", network.execution_segment_sequence.clone());
    let dns = overrides.flag_text("dns", network.dns.as_deref());
    dns.map_err(|error| wrong_flag(format!("--dns: {error}")))?;
    if !typed.stage.is_empty() {
        let stages = overrides.flag_text("stages", Some(&typed.stage.join(",")));
        stages.map_err(|error| wrong_flag(format!("--stage: {error}")))?;
    }
    let mut mistakes = Vec::new();
    let tags = pairs("--tag", &typed.tag, &mut mistakes);
    mistakes.extend(
        tags.iter().filter(|(_, value)| value.is_empty()).map(|(name, _)| format!("--tag: `{name}` has no value")),
    );
    if !mistakes.is_empty() {
        return Err(wrong_flag(mistakes.join("\n       ")));
    }
    let tags: Map<String, Value> = tags.into_iter().map(|(name, value)| (name, value.into())).collect();
    overrides.flag("tags", (!tags.is_empty()).then_some(Value::Object(tags)));
    Ok(())
}

/// Lets log lines go where they are wanted.
///
/// # Errors
/// 255 for a place or a form that is none.
pub(super) fn log_to(logging: &args::k6::Logging, overrides: &Overrides, output: &mut Output) -> Result<(), Failure> {
    let text = |option: &Option<String>| option.clone().filter(|text| !text.is_empty());
    let format = match text(&logging.log_format).as_deref() {
        None | Some("text") => LogFormat::Text,
        Some("raw") => LogFormat::Raw,
        Some("json") => LogFormat::Json,
        Some(other) => return Err(wrong_flag(format!("--log-format: `{other}` is none of text, raw and json"))),
    };
    let sink = match text(&logging.log_output).as_deref() {
        None | Some("stderr") => Sink::Stderr,
        Some("stdout") => Sink::Stdout,
        Some("none") => Sink::Nowhere,
        Some(place) => match place.strip_prefix("file=") {
            Some(path) => Sink::create(Path::new(path))?,
            None => {
                let known = "stderr, stdout, none and file=FILE";
                return Err(wrong_flag(format!("--log-output: `{place}` is none of {known} (loki is not supported)")));
            }
        },
    };
    let of_file = overrides.file.get("consoleOutput").and_then(Value::as_str).map(Into::into);
    let console = logging.console_output.clone().or(of_file).filter(|path| !path.as_os_str().is_empty());
    let console = console.as_deref().map(Sink::create).transpose()?;
    output.log_to(format, sink, console);
    Ok(())
}
