//! What `--out` was given becomes an output with all its settings: the word, its argument and k6's variables. What is
//! not supported is named, with what to do instead.

use std::path::PathBuf;
use std::time::Duration;

use crate::address::Address;
use crate::csv::TimeFormat;
use crate::influxdb::{Database, FieldType};
use crate::{opentelemetry, prometheus};

use prometheus::{Stat, TrendStyle};

/// An output that is wanted.
#[derive(Clone, Debug, PartialEq)]
#[expect(private_interfaces, reason = "made by `parse` and taken apart in this room alone")]
pub enum Wish {
    /// One JSON object per sample.
    Json(PathBuf),
    /// One line per sample.
    Csv(PathBuf, TimeFormat),
    /// InfluxDB 1.
    InfluxDb(Address, Database),
    /// Prometheus remote write.
    Prometheus(Address, prometheus::Style),
    /// OpenTelemetry over HTTP.
    OpenTelemetry(Address, opentelemetry::Style),
}

impl Wish {
    /// The word for it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Json(_) => "json",
            Self::Csv(..) => "csv",
            Self::InfluxDb(..) => "influxdb",
            Self::Prometheus(..) => "experimental-prometheus-rw",
            Self::OpenTelemetry(..) => "opentelemetry",
        }
    }
}

/// What there is.
const KNOWN: &str = "json, csv, influxdb, experimental-prometheus-rw and opentelemetry";

/// Reads `NAME` or `NAME=ARGUMENT`; `get` gives variables of the environment.
///
/// # Errors
/// A sentence.
pub fn parse(text: &str, get: &dyn Fn(&str) -> Option<String>) -> Result<Wish, String> {
    let (name, argument) = text.split_once('=').map_or((text, ""), |(name, argument)| (name, argument));
    let env = Env { get };
    match name {
        "json" => Ok(Wish::Json(if argument.is_empty() { "-" } else { argument }.into())),
        "csv" => csv(argument, &env),
        "influxdb" => influxdb(argument, &env),
        "experimental-prometheus-rw" => prometheus(argument, &env),
        "opentelemetry" | "experimental-opentelemetry" => opentelemetry(&env),
        "web-dashboard" => Err(not("web-dashboard", "the live line, the summary and --record show the run")),
        "cloud" => Err(not("cloud", "results stay on this machine")),
        "statsd" | "datadog" | "kafka" => {
            Err(not(name, "k6 has removed it too; send to OpenTelemetry, InfluxDB or Prometheus instead"))
        }
        _ => Err(format!("there is no output `{name}`; there are {KNOWN}")),
    }
}

fn not(name: &str, hint: &str) -> String {
    format!("the output `{name}` is not supported: {hint}")
}

/// Variables of the environment; an empty one counts as not set.
struct Env<'a> {
    get: &'a dyn Fn(&str) -> Option<String>,
}

impl Env<'_> {
    fn text(&self, name: &str) -> Option<String> {
        (self.get)(name).filter(|text| !text.is_empty())
    }

    fn flag(&self, name: &str) -> Result<Option<bool>, String> {
        let read = |text: String| match text.as_str() {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
            _ => Err(format!("{name}: `true` or `false` is expected, `{text}` was given")),
        };
        self.text(name).map(read).transpose()
    }

    /// A duration in whole seconds, at least one.
    fn seconds(&self, name: &str, default: u64) -> Result<u64, String> {
        let Some(text) = self.text(name) else { return Ok(default) };
        let length = go_duration(&text).ok_or_else(|| format!("{name}: `{text}` is no duration such as `5s`"))?;
        Ok(length.as_secs_f64().ceil().max(1.0) as u64)
    }

    fn refuse(&self, names: &[&str]) -> Result<(), String> {
        match names.iter().find(|name| self.text(name).is_some()) {
            Some(name) => Err(format!("{name} is not supported yet")),
            None => Ok(()),
        }
    }
}

/// `1m30s`, `500ms`; a bare number is milliseconds.
fn go_duration(text: &str) -> Option<Duration> {
    if let Ok(ms) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(ms / 1e3).ok();
    }
    let (mut rest, mut seconds) = (text, 0.0);
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !(letter.is_ascii_digit() || letter == '.'))?;
        let number: f64 = rest[..digits].parse().ok()?;
        let unit = rest[digits..].find(|letter: char| letter.is_ascii_digit()).map_or(rest.len(), |at| digits + at);
        seconds += number
            * match &rest[digits..unit] {
                "ms" => 1e-3,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                _ => return None,
            };
        rest = &rest[unit..];
    }
    Duration::try_from_secs_f64(seconds).ok()
}

fn csv(argument: &str, env: &Env<'_>) -> Result<Wish, String> {
    let mut path = env.text("K6_CSV_FILENAME");
    let mut format = env.text("K6_CSV_TIME_FORMAT");
    let is_list = ["file", "save", "time"].iter().any(|start| argument.starts_with(start)) && argument.contains('=');
    if is_list {
        for pair in argument.split(',') {
            match pair.split_once('=') {
                Some(("fileName" | "file_name" | "filename", value)) => path = Some(value.to_owned()),
                Some(("timeFormat" | "time_format", value)) => format = Some(value.to_owned()),
                // Lines are written every second.
                Some(("saveInterval" | "save_interval", _)) => {}
                _ => return Err(format!("csv: `{pair}` is none of fileName=, timeFormat= and saveInterval=")),
            }
        }
    } else if !argument.is_empty() {
        path = Some(argument.to_owned());
    }
    let format = format.unwrap_or_else(|| "unix".to_owned());
    let known = "unix, unix_milli, unix_micro, unix_nano, rfc3339 and rfc3339_nano";
    let format = TimeFormat::named(&format)
        .ok_or_else(|| format!("csv: there is no time format `{format}`; there are {known}"))?;
    Ok(Wish::Csv(path.unwrap_or_else(|| "file.csv".to_owned()).into(), format))
}

fn influxdb(argument: &str, env: &Env<'_>) -> Result<Wish, String> {
    let url = if argument.is_empty() { env.text("K6_INFLUXDB_ADDR") } else { Some(argument.to_owned()) };
    let mut address = Address::parse(url.as_deref().unwrap_or("http://localhost:8086"))
        .map_err(|error| format!("influxdb: {error}"))?;
    let start = address.url.find("://").map_or(0, |at| at + 3);
    let slash = address.url[start..].find('/').map_or(address.url.len(), |at| start + at);
    let in_url = address.url.split_off(slash);
    let in_url = in_url.trim_matches('/').split('?').next().unwrap_or_default().to_owned();
    let named = env.text("K6_INFLUXDB_DB");
    let name = if in_url.is_empty() { named.unwrap_or_else(|| "k6".to_owned()) } else { in_url };
    if let Some(user) = env.text("K6_INFLUXDB_USERNAME") {
        address.log_in(&user, &env.text("K6_INFLUXDB_PASSWORD").unwrap_or_default());
    }
    address.insecure = env.flag("K6_INFLUXDB_INSECURE")?.unwrap_or(false);
    env.refuse(&["K6_INFLUXDB_PROXY"])?;
    let fields = env.text("K6_INFLUXDB_TAGS_AS_FIELDS").unwrap_or_else(|| "vu:int,iter:int,url".to_owned());
    let field = |text: &str| {
        let (name, kind) = text.trim().split_once(':').unwrap_or((text.trim(), "string"));
        let kind = match kind {
            "int" => FieldType::Integer,
            "float" => FieldType::Float,
            "bool" => FieldType::Boolean,
            "string" => FieldType::Text,
            _ => return Err(format!("K6_INFLUXDB_TAGS_AS_FIELDS: `{kind}` is none of int, float, bool and string")),
        };
        Ok((name.to_owned(), kind))
    };
    let database = Database {
        name,
        retention: env.text("K6_INFLUXDB_RETENTION").unwrap_or_default(),
        consistency: env.text("K6_INFLUXDB_CONSISTENCY").unwrap_or_default(),
        interval_s: env.seconds("K6_INFLUXDB_PUSH_INTERVAL", 1)?,
        fields: fields.split(',').map(field).collect::<Result<_, _>>()?,
    };
    Ok(Wish::InfluxDb(address, database))
}

fn prometheus(argument: &str, env: &Env<'_>) -> Result<Wish, String> {
    let url = if argument.is_empty() { env.text("K6_PROMETHEUS_RW_SERVER_URL") } else { Some(argument.to_owned()) };
    let mut address = Address::parse(url.as_deref().unwrap_or("http://localhost:9090/api/v1/write"))
        .map_err(|error| format!("experimental-prometheus-rw: {error}"))?;
    env.refuse(&[
        "K6_PROMETHEUS_RW_CLIENT_CERTIFICATE",
        "K6_PROMETHEUS_RW_CLIENT_CERTIFICATE_KEY",
        "K6_PROMETHEUS_RW_SIGV4_REGION",
        "K6_PROMETHEUS_RW_SIGV4_ACCESS_KEY",
        "K6_PROMETHEUS_RW_SIGV4_SECRET_KEY",
    ])?;
    if let Some(user) = env.text("K6_PROMETHEUS_RW_USERNAME") {
        address.log_in(&user, &env.text("K6_PROMETHEUS_RW_PASSWORD").unwrap_or_default());
    }
    if let Some(token) = env.text("K6_PROMETHEUS_RW_BEARER_TOKEN") {
        address.headers.push(("Authorization".to_owned(), format!("Bearer {token}")));
    }
    for pair in env.text("K6_PROMETHEUS_RW_HTTP_HEADERS").iter().flat_map(|all| all.split(',')) {
        let wrong = || format!("K6_PROMETHEUS_RW_HTTP_HEADERS: `{pair}` is not of the form NAME:VALUE");
        let (key, value) = pair.split_once(':').ok_or_else(wrong)?;
        address.headers.push((key.trim().to_owned(), value.trim().to_owned()));
    }
    address.insecure = env.flag("K6_PROMETHEUS_RW_INSECURE_SKIP_TLS_VERIFY")?.unwrap_or(false);
    let trends = if env.flag("K6_PROMETHEUS_RW_TREND_AS_NATIVE_HISTOGRAM")?.unwrap_or(false) {
        TrendStyle::Native
    } else {
        let names = env.text("K6_PROMETHEUS_RW_TREND_STATS").unwrap_or_else(|| "p(99)".to_owned());
        let stat = |name: &str| {
            let known = "avg, min, med, max, count, sum and p(N)";
            let unknown = || format!("K6_PROMETHEUS_RW_TREND_STATS: there is no statistic `{name}`; there are {known}");
            Stat::named(name.trim()).ok_or_else(unknown)
        };
        TrendStyle::Stats(names.split(',').map(stat).collect::<Result<_, _>>()?)
    };
    let style = prometheus::Style {
        interval_s: env.seconds("K6_PROMETHEUS_RW_PUSH_INTERVAL", 5)?,
        trends,
        stale_markers: env.flag("K6_PROMETHEUS_RW_STALE_MARKERS")?.unwrap_or(false),
    };
    Ok(Wish::Prometheus(address, style))
}

fn opentelemetry(env: &Env<'_>) -> Result<Wish, String> {
    let kind = env.text("K6_OTEL_EXPORTER_PROTOCOL").or(env.text("K6_OTEL_EXPORTER_TYPE"));
    match kind.as_deref() {
        Some("http" | "http/protobuf") => {}
        Some("grpc") | None => {
            let hint = "set K6_OTEL_EXPORTER_PROTOCOL=http/protobuf and K6_OTEL_HTTP_EXPORTER_ENDPOINT=HOST:4318";
            return Err(format!("opentelemetry: gRPC, k6's default, is not supported yet: {hint}"));
        }
        Some(other) => return Err(format!("opentelemetry: `{other}` is none of http/protobuf and grpc")),
    }
    env.refuse(&["K6_OTEL_TLS_CERTIFICATE", "K6_OTEL_TLS_CLIENT_CERTIFICATE", "K6_OTEL_TLS_CLIENT_KEY"])?;
    let plain = env.flag("K6_OTEL_HTTP_EXPORTER_INSECURE")?.unwrap_or(false);
    let host = env.text("K6_OTEL_HTTP_EXPORTER_ENDPOINT").unwrap_or_else(|| "localhost:4318".to_owned());
    let path = env.text("K6_OTEL_HTTP_EXPORTER_URL_PATH").unwrap_or_else(|| "/v1/metrics".to_owned());
    let scheme = if plain { "http" } else { "https" };
    let url = if host.contains("://") { format!("{host}{path}") } else { format!("{scheme}://{host}{path}") };
    let mut address = Address::parse(&url).map_err(|error| format!("opentelemetry: {error}"))?;
    address.insecure = env.flag("K6_OTEL_TLS_INSECURE_SKIP_VERIFY")?.unwrap_or(false);
    for pair in env.text("K6_OTEL_HEADERS").iter().flat_map(|all| all.split(',')) {
        let wrong = || format!("K6_OTEL_HEADERS: `{pair}` is not of the form NAME=VALUE");
        let (key, value) = pair.split_once('=').ok_or_else(wrong)?;
        address.headers.push((key.trim().to_owned(), value.trim().to_owned()));
    }
    let style = opentelemetry::Style {
        interval_s: env.seconds("K6_OTEL_EXPORT_INTERVAL", 10)?,
        prefix: env.text("K6_OTEL_METRIC_PREFIX").unwrap_or_default(),
        service_name: env.text("K6_OTEL_SERVICE_NAME").unwrap_or_else(|| "k6".to_owned()),
        service_version: env.text("K6_OTEL_SERVICE_VERSION").unwrap_or_else(|| env!("CARGO_PKG_VERSION").to_owned()),
        single_counter_for_rate: env.flag("K6_OTEL_SINGLE_COUNTER_FOR_RATE")?.unwrap_or(true),
    };
    Ok(Wish::OpenTelemetry(address, style))
}
