//! What a config file, the environment and the command line say about options, each as an object in the form of the
//! script's `options`.

use std::str::FromStr;

use model::plan::{Stage, SummaryMode};
use serde_json::{Map, Value, json};

use super::OptionsError;
use super::duration::parse_duration;
use super::read::{Fields, Notes};

/// Options from outside of the script. The file is weaker than the script, the environment stronger, flags strongest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    /// A config file's.
    pub file: Map<String, Value>,
    /// An archive's: stronger than the script's own.
    pub archive: Map<String, Value>,
    /// The environment's.
    pub environment: Map<String, Value>,
    /// The command line's.
    pub flags: Map<String, Value>,
    /// Leaves out all thresholds.
    pub no_thresholds: bool,
    /// How much the summary says.
    pub summary_mode: Option<SummaryMode>,
    /// The only scenario to run.
    pub scenario: Option<String>,
    /// Whether each scenario is one iteration of one user.
    pub once: bool,
}

/// How a variable's text becomes an option's value.
type Read = fn(&str) -> Result<Value, String>;

/// k6's variables, and the options that they are.
const VARIABLES: &[(&str, &str, Read)] = &[
    ("K6_VUS", "vus", whole_value),
    ("K6_DURATION", "duration", duration),
    ("K6_ITERATIONS", "iterations", whole_value),
    ("K6_STAGES", "stages", stages),
    ("K6_NO_SETUP", "noSetup", flag),
    ("K6_NO_TEARDOWN", "noTeardown", flag),
    ("K6_SETUP_TIMEOUT", "setupTimeout", duration),
    ("K6_TEARDOWN_TIMEOUT", "teardownTimeout", duration),
    ("K6_MAX_REDIRECTS", "maxRedirects", whole_value),
    ("K6_USER_AGENT", "userAgent", text),
    ("K6_THROW", "throw", flag),
    ("K6_DISCARD_RESPONSE_BODIES", "discardResponseBodies", flag),
    ("K6_INSECURE_SKIP_TLS_VERIFY", "insecureSkipTLSVerify", flag),
    ("K6_NO_CONNECTION_REUSE", "noConnectionReuse", flag),
    ("K6_NO_VU_CONNECTION_REUSE", "noVUConnectionReuse", flag),
    ("K6_NO_COOKIES_RESET", "noCookiesReset", flag),
    ("K6_MIN_ITERATION_DURATION", "minIterationDuration", duration),
    ("K6_SUMMARY_TREND_STATS", "summaryTrendStats", list),
    ("K6_SUMMARY_TIME_UNIT", "summaryTimeUnit", text),
    ("K6_SYSTEM_TAGS", "systemTags", list),
    ("K6_HANDLE_SUMMARY_TIMEOUT", "handleSummaryTimeout", duration),
    ("K6_TAGS", "tags", tags),
    ("K6_RPS", "rps", whole_value),
    ("K6_BATCH", "batch", whole_value),
    ("K6_BATCH_PER_HOST", "batchPerHost", whole_value),
    ("K6_HOSTS", "hosts", object),
    ("K6_DNS", "dns", dns),
    ("K6_BLACKLIST_IPS", "blacklistIPs", list),
    ("K6_BLOCK_HOSTNAMES", "blockHostnames", list),
    ("K6_LOCAL_IPS", "localIPs", text),
    ("K6_HTTP_DEBUG", "httpDebug", text),
    ("K6_TLSAUTH", "tlsAuth", array),
    ("K6_TLS_VERSION", "tlsVersion", text),
    ("K6_TLS_CIPHER_SUITES", "tlsCipherSuites", list),
    ("K6_EXECUTION_SEGMENT", "executionSegment", text),
    ("K6_EXECUTION_SEGMENT_SEQUENCE", "executionSegmentSequence", text),
    ("K6_PAUSED", "paused", flag),
    ("K6_METRIC_SAMPLES_BUFFER_SIZE", "metricSamplesBufferSize", whole_value),
];

/// k6's variables for options that cannot be honoured yet.
const NOT_YET: [&str; 3] = ["K6_THRESHOLDS", "K6_TRACES_OUTPUT", "K6_WEB_DASHBOARD"];

impl Overrides {
    /// Reads the `K6_*` variables. An empty one counts as not set.
    ///
    /// # Errors
    /// If a value cannot be read, or if a variable is set that k6 knows and this program does not support yet.
    pub fn from_env(get: impl Fn(&str) -> Option<String>) -> Result<Self, OptionsError> {
        let mut mistakes = Vec::new();
        let mut overrides = Self::default();
        let get = |name: &str| get(name).filter(|text| !text.is_empty());
        for (name, key, read) in VARIABLES {
            let Some(text) = get(name) else { continue };
            match read(&text) {
                Ok(value) => {
                    overrides.environment.insert((*key).to_owned(), value);
                }
                Err(error) => mistakes.push(format!("{name}: {error}")),
            }
        }
        if let Some(text) = get("K6_NO_THRESHOLDS") {
            match flag(&text) {
                Ok(value) => overrides.no_thresholds = value == true,
                Err(error) => mistakes.push(format!("K6_NO_THRESHOLDS: {error}")),
            }
        }
        match get("K6_SUMMARY_MODE").map(|text| parse_summary_mode(&text)).transpose() {
            Ok(mode) => overrides.summary_mode = mode,
            Err(error) => mistakes.push(format!("K6_SUMMARY_MODE: {error}")),
        }
        for name in NOT_YET.into_iter().filter(|name| get(name).is_some()) {
            mistakes.push(format!("{name}: this option is not supported yet"));
        }
        if mistakes.is_empty() { Ok(overrides) } else { Err(OptionsError { mistakes }) }
    }

    /// Reads a config file of k6's: one object in the form of `options`.
    ///
    /// # Errors
    /// If it is none.
    pub fn read_file(&mut self, name: &str, contents: &str) -> Result<(), OptionsError> {
        let wrong = |error: String| OptionsError { mistakes: vec![format!("the config file {name}: {error}")] };
        match serde_json::from_str(contents) {
            Ok(Value::Object(map)) => self.file = map,
            Ok(_) => return Err(wrong("an object with options is expected".to_owned())),
            Err(error) => return Err(wrong(format!("this is no JSON ({error})"))),
        }
        Ok(())
    }

    /// Adds a flag that was given.
    pub fn flag(&mut self, key: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.flags.insert(key.to_owned(), value.into());
        }
    }

    /// Adds a flag whose text is in the form of the variable that is its twin.
    ///
    /// # Errors
    /// If the text is not in that form.
    pub fn flag_text(&mut self, key: &str, text: Option<&str>) -> Result<(), String> {
        let Some(text) = text else { return Ok(()) };
        let read = VARIABLES.iter().find(|(_, known, _)| *known == key).map(|(_, _, read)| read);
        let value = read.expect("every flag of this kind has a variable")(text)?;
        self.flags.insert(key.to_owned(), value);
        Ok(())
    }
}

impl Overrides {
    /// Looks at the flags alone: what is wrong with them is a mistake of the command line.
    ///
    /// # Errors
    /// If a value is none.
    pub fn check_flags(&self) -> Result<(), OptionsError> {
        let mut notes = Notes::default();
        let top = &mut Fields::new("option", &self.flags);
        super::network::network(top, &mut notes);
        super::segment(top, &mut notes);
        super::trend_stats(top, &mut notes);
        super::time_unit(top, &mut notes);
        if notes.mistakes.is_empty() { Ok(()) } else { Err(OptionsError { mistakes: notes.mistakes }) }
    }
}

/// Reads stages in the form of `K6_STAGES` and `--stage`: `10s:5,20s:10`.
///
/// # Errors
/// If a part is not `DURATION:USERS`.
pub fn parse_stages(text: &str) -> Result<Vec<Stage>, String> {
    let stage = |part: &str| {
        let (length, target) = stage_parts(part)?;
        let duration = parse_duration(length).map_err(|error| error.to_string())?;
        Ok(Stage { duration, target: whole(target)? })
    };
    text.split(',').map(stage).collect()
}

fn stage_parts(part: &str) -> Result<(&str, &str), String> {
    let wrong = || format!("`10s:5,20s:10` is the form of stages, `{part}` was given");
    part.trim().rsplit_once(':').ok_or_else(wrong)
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

fn stages(text: &str) -> Result<Value, String> {
    parse_stages(text)?;
    let stage = |part: &str| {
        let (duration, target) = stage_parts(part)?;
        Ok(json!({ "duration": duration, "target": whole::<u64>(target)? }))
    };
    text.split(',').map(stage).collect()
}

fn whole<T: FromStr>(text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| format!("a whole number that is not negative is expected, `{text}` was given"))
}

fn whole_value(text: &str) -> Result<Value, String> {
    whole::<u64>(text).map(Value::from)
}

fn duration(text: &str) -> Result<Value, String> {
    parse_duration(text).map_err(|error| error.to_string())?;
    Ok(text.into())
}

fn flag(text: &str) -> Result<Value, String> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true.into()),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false.into()),
        _ => Err(format!("`true` or `false` is expected, `{text}` was given")),
    }
}

#[expect(clippy::unnecessary_wraps, reason = "one of several readers of one type")]
fn text(text: &str) -> Result<Value, String> {
    Ok(text.into())
}

#[expect(clippy::unnecessary_wraps, reason = "one of several readers of one type")]
fn list(text: &str) -> Result<Value, String> {
    Ok(text.split(',').map(str::trim).collect())
}

fn tags(text: &str) -> Result<Value, String> {
    let tag = |part: &str| {
        let pair = part.trim().split_once(':').map(|(name, value)| (name.to_owned(), Value::from(value)));
        pair.ok_or_else(|| format!("`name:value,name:value` is the form of tags, `{}` was given", part.trim()))
    };
    text.split(',').map(tag).collect::<Result<Map<_, _>, _>>().map(Value::Object)
}

/// `ttl=5m,select=random,policy=preferIPv4`.
fn dns(text: &str) -> Result<Value, String> {
    let pair = |part: &str| {
        let pair = part.trim().split_once('=').filter(|(key, _)| ["ttl", "select", "policy"].contains(key));
        let pair = pair.map(|(key, value)| (key.to_owned(), Value::from(value)));
        pair.ok_or_else(|| format!("`ttl=5m,select=random,policy=preferIPv4` is the form of it, `{text}` was given"))
    };
    text.split(',').map(pair).collect::<Result<Map<_, _>, _>>().map(Value::Object)
}

fn object(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).ok().filter(Value::is_object).ok_or_else(|| "a JSON object is expected".to_owned())
}

fn array(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).ok().filter(Value::is_array).ok_or_else(|| "a JSON list is expected".to_owned())
}
