//! What can be typed. Every flag is declared here and resolved in the command that owns it.

pub(crate) mod k6;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, Parser, Subcommand, ValueEnum};
use model::plan::HttpSettings;

use crate::exit::{Exit, Failure};

/// How many users can this service carry, what stops it, and what would move the line?
#[derive(Debug, Parser)]
#[command(name = "plimsoll", version, max_term_width = 100, after_help = EXAMPLES, arg_required_else_help = true)]
struct Typed {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    output: Output,
}

const EXAMPLES: &str = "\
Examples:
  plimsoll find http://127.0.0.1:8080/uuid/17        how many users, what stops it
  plimsoll find journey.js --slo 'http_req_duration: p(95)<300'
  plimsoll run script.js -u 50 -d 30s                as k6 run, and what limited it
  plimsoll check script.js                           what it uses of k6, and one pass of it
  plimsoll lab laptop --quick                        the reference services on this machine";

/// What the program prints and how.
#[derive(Clone, Debug, Args)]
pub(crate) struct Output {
    /// No progress, only the result
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// No colours (so does the variable NO_COLOR)
    #[arg(long, global = true)]
    pub(crate) no_color: bool,
    /// More about what happens
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find how many users a service carries under a promise, what stops it and what would move the line
    Find(Box<Find>),
    /// Run a k6 script with k6's options, thresholds and exit codes, and say what limited it
    Run(Box<Run>),
    /// Say what of k6 a script uses and whether it is supported, then run it once with everything shown
    Check(Box<Check>),
    /// Render a recorded run again
    Report(Report),
    /// Start the reference services of a story and answer its questions on this machine
    Lab(Lab),
    /// Only watch a service that something else loads (not there yet)
    #[command(hide = true)]
    Watch(Rest),
    /// Compare two recorded runs (not there yet)
    #[command(hide = true)]
    Compare(Rest),
    /// Say what this machine limits (not there yet)
    #[command(hide = true)]
    Doctor(Rest),
    /// Generate load as part of a fleet (not there yet)
    #[command(hide = true)]
    Agent(Rest),
}

/// Arguments of a command that is not there yet.
#[derive(Debug, Args)]
pub(crate) struct Rest {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _rest: Vec<OsString>,
}

/// A duration and how it was typed.
#[derive(Clone, Debug)]
pub(crate) struct Spelled {
    /// As typed.
    pub(crate) text: String,
    /// What it means.
    pub(crate) length: Duration,
}

/// Closed users or open arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// A number of users who wait for each answer.
    Users,
    /// A number of arrivals per second, whatever the service does (not supported yet).
    Rate,
}

/// `plimsoll find`.
#[derive(Debug, Args)]
pub(crate) struct Find {
    /// A URL (one GET per iteration) or a k6 script
    pub(crate) target: String,
    /// A promise to users, in k6's threshold syntax on a metric; repeatable
    /// [default: 'http_req_duration: p(90)<500' and 'http_req_failed: rate<0.01']
    #[arg(long, value_name = "EXPR")]
    pub(crate) slo: Vec<String>,
    /// Closed users, or open arrivals per second (rate: not supported yet)
    #[arg(long, value_enum, default_value_t = Mode::Users)]
    pub(crate) mode: Mode,
    /// Think time after each iteration of a URL target
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = duration, default_value = "0s")]
    pub(crate) think: Duration,
    /// Upper end of the search
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) users_max: u32,
    /// Upper end of the search in rate mode (not supported yet)
    #[arg(long, value_name = "N")]
    pub(crate) rate_max: Option<f64>,
    /// Time to answer
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = spelled, default_value = "3m")]
    pub(crate) budget: Spelled,
    /// About 90 seconds and a wider range
    #[arg(long)]
    pub(crate) quick: bool,
    /// Take a step even if the memory forecast says that it kills the service
    #[arg(long)]
    pub(crate) allow_crash: bool,
    #[command(flatten)]
    pub(crate) watching: Watching,
    #[command(flatten)]
    pub(crate) files: Files,
    #[command(flatten)]
    pub(crate) connections: Connections,
    #[command(flatten)]
    pub(crate) script: Script,
}

/// What to watch.
#[derive(Clone, Debug, Args)]
pub(crate) struct Watching {
    /// What to watch besides what is found by itself, repeatable: pid:N, port:N, cgroup:PATH, postgres://…, redis://…,
    /// metrics:http://HOST/metrics, each with an optional NAME= in front
    #[arg(long, value_name = "SPEC")]
    pub(crate) watch: Vec<String>,
    /// A host that may be loaded although it is not on this machine or in a private network; repeatable
    #[arg(long, value_name = "HOST")]
    pub(crate) allow: Vec<String>,
    /// Worker threads of the load generator [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) workers: Option<u16>,
    /// Run on the agents of a fleet
    #[arg(long, value_name = "URL", hide = true)]
    pub(crate) fleet: Option<String>,
    /// Wait for this many agents
    #[arg(long, value_name = "N", hide = true)]
    pub(crate) agents: Option<u32>,
}

/// Where results go.
#[derive(Clone, Debug, Args)]
pub(crate) struct Files {
    /// Write the verdict as JSON; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write the record, which `plimsoll report` reads
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Write the self-contained HTML report (not supported yet)
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
}

/// How connections are made and used.
#[derive(Clone, Debug, Args)]
pub(crate) struct Connections {
    /// Which HTTP is spoken: only 1.1, or only 2, which then goes without TLS too [default: over TLS what the service
    /// chooses, 2 first; 1.1 without]
    #[arg(long, value_enum, value_name = "VERSION")]
    http_version: Option<HttpVersion>,
    /// Replace connections that are older than this
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = duration)]
    connection_max_age: Option<Duration>,
    /// Replace connections that have carried so many requests
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    connection_max_requests: Option<u32>,
}

impl Connections {
    /// Puts what was typed into the settings of a plan.
    pub(crate) fn apply(&self, http: &mut HttpSettings) {
        http.http_version = match self.http_version {
            None => model::plan::HttpVersion::Agreed,
            Some(HttpVersion::One) => model::plan::HttpVersion::Http1,
            Some(HttpVersion::Two) => model::plan::HttpVersion::Http2,
        };
        http.connection_max_age = self.connection_max_age;
        http.connection_max_requests = self.connection_max_requests;
    }
}

/// Versions of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum HttpVersion {
    /// HTTP/1.1 alone.
    #[value(name = "1.1")]
    One,
    /// HTTP/2 alone.
    #[value(name = "2")]
    Two,
}

/// How scripts are run.
#[derive(Clone, Debug, Args)]
pub(crate) struct Script {
    /// A variable for `__ENV`; repeatable
    #[arg(short = 'e', long = "env", value_name = "VAR=VALUE")]
    pub(crate) env: Vec<String>,
    /// Secrets for k6/secrets, repeatable: mock=NAME=VALUE,… or file=PATH with a NAME=VALUE in each line; name=… and
    /// default among the parts of a source name it and choose it
    #[arg(long, value_name = "SOURCE")]
    pub(crate) secret_source: Vec<String>,
    /// `full` gives each user a JavaScript engine of its own
    #[arg(long, value_enum, default_value_t = Isolation::Shared)]
    pub(crate) isolation: Isolation,
    /// Stack of each JavaScript user, in kB: more for scripts that recurse deeply
    #[arg(long, value_name = "KB", default_value_t = 512, value_parser = clap::value_parser!(u32).range(128..=65_536))]
    pub(crate) stack_size: u32,
    /// What a JavaScript user may hold, in MB: an iteration that needs more ends by an exception
    #[arg(long, value_name = "MB", default_value_t = 256, value_parser = clap::value_parser!(u32).range(8..=1_048_576))]
    pub(crate) memory_per_user: u32,
    /// Take remote modules from the cache alone
    #[arg(long)]
    pub(crate) offline: bool,
    /// Fetch all remote modules again, and accept texts that differ from plimsoll.lock
    #[arg(long, conflicts_with = "offline")]
    pub(crate) refresh_modules: bool,
}

/// Whether users share a JavaScript engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Isolation {
    /// Many users in one engine, each with its own globals and module state.
    Shared,
    /// One engine per user.
    Full,
}

/// `plimsoll run`.
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// A k6 script, `-` for one from standard input, a k6 archive, or a URL (one GET per iteration)
    pub(crate) script: String,
    /// Users
    #[arg(short = 'u', long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) vus: Option<u32>,
    /// How long
    #[arg(short, long, value_name = "DURATION", allow_hyphen_values = true, value_parser = duration)]
    pub(crate) duration: Option<Duration>,
    /// Iterations of all users together
    #[arg(short, long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) iterations: Option<u64>,
    /// A stage, DURATION:TARGET; repeatable
    #[arg(short, long, value_name = "STAGE")]
    pub(crate) stage: Vec<String>,
    /// Skip setup()
    #[arg(long)]
    pub(crate) no_setup: bool,
    /// Skip teardown()
    #[arg(long)]
    pub(crate) no_teardown: bool,
    /// Ignore thresholds
    #[arg(long)]
    pub(crate) no_thresholds: bool,
    /// No end-of-test summary
    #[arg(long)]
    pub(crate) no_summary: bool,
    /// Where samples go, repeatable: json[=FILE], csv[=FILE], influxdb[=URL/DB], experimental-prometheus-rw, opentelemetry
    #[arg(short, long, value_name = "OUTPUT")]
    pub(crate) out: Vec<String>,
    /// How much the summary says: compact, full (every metric, a block for each scenario and group), legacy, disabled
    #[arg(long, value_name = "MODE")]
    pub(crate) summary_mode: Option<String>,
    /// Exit code 107 if any iteration ended by an exception of the script
    #[arg(long)]
    pub(crate) fail_on_exceptions: bool,
    /// System tags that samples carry
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) system_tags: Option<Vec<String>>,
    /// Write the summary as JSON, in k6's shape
    #[arg(long, value_name = "FILE", env = "K6_SUMMARY_EXPORT", hide_env = true)]
    pub(crate) summary_export: Option<PathBuf>,
    /// Statistics of Trend metrics in the summary
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) summary_trend_stats: Option<Vec<String>>,
    /// Unit of times in the summary
    #[arg(long, value_name = "s|ms|us")]
    pub(crate) summary_time_unit: Option<String>,
    /// Redirects that are followed
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) max_redirects: Option<u32>,
    /// User-Agent of requests
    #[arg(long, value_name = "TEXT")]
    pub(crate) user_agent: Option<String>,
    /// Take certificates unseen
    #[arg(long)]
    pub(crate) insecure_skip_tls_verify: bool,
    /// A new connection for every request
    #[arg(long)]
    pub(crate) no_connection_reuse: bool,
    /// New connections in every iteration
    #[arg(long)]
    pub(crate) no_vu_connection_reuse: bool,
    /// Drop bodies unless a request asks for them
    #[arg(long)]
    pub(crate) discard_response_bodies: bool,
    /// Failed requests throw
    #[arg(short = 'w', long)]
    pub(crate) throw: bool,
    /// Pad shorter iterations to this length
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = duration)]
    pub(crate) min_iteration_duration: Option<Duration>,
    /// k6's flag for what is never done here: reporting anything to anybody
    #[arg(long = "no-usage-report", hide = true)]
    _no_usage_report: bool,
    /// A tag of all samples, NAME=VALUE; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) tag: Vec<String>,
    #[command(flatten)]
    pub(crate) network: k6::Network,
    #[command(flatten)]
    pub(crate) logging: k6::Logging,
    #[command(flatten)]
    pub(crate) k6: k6::Compatibility,
    #[command(flatten)]
    pub(crate) watching: Watching,
    #[command(flatten)]
    pub(crate) files: Files,
    #[command(flatten)]
    pub(crate) connections: Connections,
    #[command(flatten)]
    pub(crate) scripting: Script,
}

/// `plimsoll check`.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// A k6 script, `-` for one from standard input, or a k6 archive
    pub(crate) script: String,
    /// Only list what the script uses; run nothing
    #[arg(long)]
    pub(crate) list: bool,
    /// Run this scenario alone
    #[arg(long, value_name = "NAME")]
    pub(crate) scenario: Option<String>,
    /// A host that may be asked although it is not on this machine or in a private network; repeatable
    #[arg(long, value_name = "HOST")]
    pub(crate) allow: Vec<String>,
    #[command(flatten)]
    pub(crate) connections: Connections,
    #[command(flatten)]
    pub(crate) scripting: Script,
}

/// `plimsoll report`.
#[derive(Debug, Args)]
pub(crate) struct Report {
    /// A record written with --record
    pub(crate) run: PathBuf,
    #[arg(long, value_name = "FILE")]
    /// Write the verdict as JSON; `-` is standard output
    pub(crate) json: Option<PathBuf>,
}

/// `plimsoll lab`.
#[derive(Debug, Args)]
pub(crate) struct Lab {
    /// The story
    #[arg(value_enum)]
    pub(crate) story: Story,
    /// At most four minutes
    #[arg(long)]
    pub(crate) quick: bool,
    /// The full ladder of the story, up to 10,000 users
    #[arg(long, conflicts_with = "quick")]
    pub(crate) full: bool,
    /// Write the table and the verdicts as JSON; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Connections of the service's pool
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) pool: u32,
    /// Rate of the emulated Wi-Fi link, as tc writes it
    #[arg(long, value_name = "RATE", default_value = "8mbit")]
    pub(crate) link_rate: String,
    /// Delay of the emulated Wi-Fi link in each direction
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = duration, default_value = "2ms")]
    pub(crate) link_delay: Duration,
}

/// The stories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Story {
    /// How many users a laptop carries: compute only, with a database, over a link.
    Laptop,
    /// How ten users sank a service (not there yet).
    Signin,
}

/// Flags of `k6 run` that are not supported yet: long and, where there is one, short.
const NOT_YET: [(&str, &str); 2] = [("--new-machine-readable-summary", ""), ("--set", "")];

/// The flag of k6 that an error of clap's is about.
fn not_yet(error: &clap::Error) -> Option<&'static str> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else { return None };
    let typed = typed.split('=').next().unwrap_or_default();
    let is_it = |(long, short): &&(&str, &str)| typed == *long || typed == *short;
    let known = NOT_YET.iter().find(is_it).filter(|_| error.kind() == ErrorKind::UnknownArgument);
    known.map(|(long, _)| *long)
}

/// What came of the arguments.
pub(crate) enum Parsed {
    /// A command to run.
    Command(Box<Command>, Output),
    /// Help or version to print.
    Print(String),
}

/// Parses the arguments.
///
/// # Errors
/// Exit code 255 with clap's explanation, as k6 does for unknown flags; 104 for flags of k6 that are not supported yet.
pub(crate) fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Parsed, Failure> {
    let arguments: Vec<_> = arguments.collect();
    let runs = arguments.iter().any(|argument| argument == "run");
    match Typed::try_parse_from(arguments) {
        Ok(typed) => Ok(Parsed::Command(Box::new(typed.command), typed.output)),
        Err(error) if error.use_stderr() => {
            if let Some(flag) = not_yet(&error).filter(|_| runs) {
                return Err(Failure::config(format!("{flag} is not supported yet")));
            }
            let text = error.render().to_string();
            Err(Failure::new(Exit::Other, text.strip_prefix("error: ").unwrap_or(&text).trim_end()))
        }
        Err(error) => Ok(Parsed::Print(error.render().to_string())),
    }
}

/// A duration in k6's and Go's form: `90s`, `1m30s`, `500ms`; a bare number is milliseconds.
fn duration(text: &str) -> Result<Duration, String> {
    script::options::parse_duration(text).map_err(|error| error.to_string())
}

fn spelled(text: &str) -> Result<Spelled, String> {
    Ok(Spelled { text: text.to_owned(), length: duration(text)? })
}
