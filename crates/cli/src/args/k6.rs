//! Flags of `k6 run` about the network, about logs, and about k6 itself.

use std::path::PathBuf;

use clap::{ArgAction, Args};

/// How requests reach the service.
#[derive(Clone, Debug, Args)]
pub(crate) struct Network {
    /// Requests per second at most, of all users together
    #[arg(long, value_name = "N")]
    pub(crate) rps: Option<u32>,
    /// Requests of one batch at once
    #[arg(long, value_name = "N")]
    pub(crate) batch: Option<u32>,
    /// Requests of one batch to one host at once
    #[arg(long, value_name = "N")]
    pub(crate) batch_per_host: Option<u32>,
    /// Addresses that are not connected to: networks such as 10.0.0.0/8; repeatable
    #[arg(long, value_name = "NETWORK", value_delimiter = ',')]
    pub(crate) blacklist_ip: Vec<String>,
    /// Hosts that are not connected to: names, also with a leading `*`; repeatable
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) block_hostnames: Vec<String>,
    /// How names are looked up: ttl=5m,select=random,policy=preferIPv4
    #[arg(long, value_name = "SETTINGS")]
    pub(crate) dns: Option<String>,
    /// Addresses, ranges and networks of this machine that users take turns in using
    #[arg(long, value_name = "LIST")]
    pub(crate) local_ips: Option<String>,
    /// Log the heads of requests and responses; `full` logs bodies too
    #[arg(long, value_name = "full", num_args = 0..=1, require_equals = true, default_missing_value = "headers")]
    pub(crate) http_debug: Option<String>,
    /// The part of the test that is this machine's: 0:1/3
    #[arg(long, value_name = "FROM:TO")]
    pub(crate) execution_segment: Option<String>,
    /// The bounds of all parts: 0,1/3,2/3,1
    #[arg(long, value_name = "BOUNDS")]
    pub(crate) execution_segment_sequence: Option<String>,
}

/// Where log lines go, and how they look.
#[derive(Clone, Debug, Args)]
pub(crate) struct Logging {
    /// Write what the script says to this file instead
    #[arg(long, value_name = "FILE", env = "K6_CONSOLE_OUTPUT", hide_env = true)]
    pub(crate) console_output: Option<PathBuf>,
    /// Where log lines go: stderr, stdout, none or file=FILE
    #[arg(long, value_name = "WHERE", env = "K6_LOG_OUTPUT", hide_env = true)]
    pub(crate) log_output: Option<String>,
    /// How log lines look: text, raw or json
    #[arg(long, value_name = "FORMAT", env = "K6_LOG_FORMAT", hide_env = true)]
    pub(crate) log_format: Option<String>,
}

/// What is k6's.
#[derive(Clone, Debug, Args)]
pub(crate) struct Compatibility {
    /// A file with options, in JSON: weaker than the script's own
    #[arg(short, long, value_name = "FILE", env = "K6_CONFIG", hide_env = true)]
    pub(crate) config: Option<PathBuf>,
    /// Run this scenario alone
    #[arg(long, value_name = "NAME")]
    pub(crate) scenario: Option<String>,
    /// One iteration of one user in each scenario
    #[arg(long)]
    pub(crate) once: bool,
    /// Whether `__ENV` holds this process's environment
    #[arg(long, value_name = "BOOL", env = "K6_INCLUDE_SYSTEM_ENV_VARS", hide_env = true, action = ArgAction::Set,
        num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true")]
    pub(crate) include_system_env_vars: bool,
    /// What the script is: js or archive [default: what it looks like]
    #[arg(short = 't', long = "type", value_name = "KIND", env = "K6_TYPE", hide_env = true)]
    pub(crate) kind: Option<String>,
    /// k6's flag for its JavaScript engine; there is only one here
    #[arg(long, value_name = "MODE", env = "K6_COMPATIBILITY_MODE", hide = true)]
    pub(crate) compatibility_mode: Option<String>,
    /// k6's flag for its REST server, which is not here
    #[arg(short, long, value_name = "HOST:PORT", hide = true)]
    pub(crate) address: Option<String>,
    /// k6's flag for its REST server, which is not here
    #[arg(short, long, env = "K6_LINGER", hide = true)]
    pub(crate) linger: bool,
    /// k6's flag for its REST server, which is not here
    #[arg(short, long, hide = true)]
    pub(crate) paused: bool,
    /// k6's flag for its own profiles
    #[arg(long, hide = true)]
    pub(crate) profiling_enabled: bool,
    /// k6's flag for its own traces
    #[arg(long, value_name = "WHERE", env = "K6_TRACES_OUTPUT", hide = true)]
    pub(crate) traces_output: Option<String>,
    /// k6's flag for what it may do otherwise
    #[arg(long, value_name = "LIST", value_delimiter = ',', env = "K6_FEATURES", hide = true)]
    pub(crate) features: Vec<String>,
}
