//! What somebody asks to be watched, as typed: `[NAME=]SPEC`. Never shows a password.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use thiserror::Error;

/// Something to watch.
#[derive(Clone, Debug, PartialEq)]
pub struct WatchSpec {
    /// What people shall call it. `svc`, `db` and `cache` also say which part of the stack it is.
    pub name: Option<String>,
    /// Where it is.
    pub what: What,
}

/// Where something to watch is.
#[derive(Clone, PartialEq)]
pub enum What {
    /// A process with everything it began: `pid:N`.
    Pid(u32),
    /// The process that listens on a port of this machine: `port:N`.
    Port(u16),
    /// The processes of a control group: `cgroup:PATH`, from `/` or from the root of the control groups.
    Cgroup(PathBuf),
    /// A PostgreSQL server to log in to: `postgres://…`.
    Postgres(String),
    /// A Redis server: `redis://…`.
    Redis(String),
    /// Prometheus text: `metrics:http://HOST/metrics`; without the `metrics:`.
    Metrics(String),
}

/// Why a spec is not understood.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SpecError {
    /// The word before the colon means nothing.
    #[error(
        "`{0}` is nothing that can be watched: expected pid:N, port:N, cgroup:PATH, postgres://…, redis://… or \
         metrics:http://HOST/metrics, each optionally as NAME=SPEC"
    )]
    Unknown(String),
    /// No process id.
    #[error("`{0}` is no process id: expected pid:N with a number from 1")]
    Pid(String),
    /// No port.
    #[error("`{0}` is no port: expected port:N with a number from 1 to 65535")]
    Port(String),
    /// No path.
    #[error("a control group needs a path: cgroup:PATH")]
    Cgroup,
    /// Neither PostgreSQL's nor Redis's kind of address.
    #[error("`{0}` names no host and port: expected {1}://[USER[:PASSWORD]@]HOST[:PORT][/…]")]
    Address(String, &'static str),
    /// Only plain HTTP can be read.
    #[error("`{0}` cannot be read as metrics: expected metrics:http://HOST[:PORT]/PATH")]
    Metrics(String),
    /// `=SPEC`.
    #[error("the name before `=` is empty in `{0}`")]
    Name(String),
}

impl FromStr for WatchSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        match text.split_once('=') {
            Some((name, what)) if !name.contains([':', '/']) => {
                if name.trim().is_empty() {
                    return Err(SpecError::Name(masked(text)));
                }
                Ok(Self { name: Some(name.trim().to_owned()), what: what.parse()? })
            }
            _ => Ok(Self { name: None, what: text.parse()? }),
        }
    }
}

impl FromStr for What {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let (kind, rest) = text.split_once(':').ok_or_else(|| SpecError::Unknown(masked(text)))?;
        match kind {
            "pid" => match rest.parse() {
                Ok(pid) if pid > 0 => Ok(Self::Pid(pid)),
                _ => Err(SpecError::Pid(rest.to_owned())),
            },
            "port" => match rest.parse() {
                Ok(port) if port > 0 => Ok(Self::Port(port)),
                _ => Err(SpecError::Port(rest.to_owned())),
            },
            "cgroup" if rest.is_empty() => Err(SpecError::Cgroup),
            "cgroup" => Ok(Self::Cgroup(rest.into())),
            "postgres" | "postgresql" if names_a_host(rest) => Ok(Self::Postgres(text.to_owned())),
            "postgres" | "postgresql" => Err(SpecError::Address(masked(text), "postgres")),
            "redis" if names_a_host(rest) => Ok(Self::Redis(text.to_owned())),
            "redis" => Err(SpecError::Address(masked(text), "redis")),
            "metrics" if rest.strip_prefix("http:").is_some_and(names_a_host) => Ok(Self::Metrics(rest.to_owned())),
            "metrics" => Err(SpecError::Metrics(masked(rest))),
            _ => Err(SpecError::Unknown(masked(text))),
        }
    }
}

impl fmt::Display for WatchSpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(formatter, "{name}={}", self.what),
            None => self.what.fmt(formatter),
        }
    }
}

impl fmt::Display for What {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pid(pid) => write!(formatter, "pid:{pid}"),
            Self::Port(port) => write!(formatter, "port:{port}"),
            Self::Cgroup(path) => write!(formatter, "cgroup:{}", path.display()),
            Self::Postgres(url) | Self::Redis(url) => formatter.write_str(&masked(url)),
            Self::Metrics(url) => write!(formatter, "metrics:{}", masked(url)),
        }
    }
}

/// As [`fmt::Display`]: addresses hold passwords, and debug output reaches logs.
impl fmt::Debug for What {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// The host and port that a URL names, without user and password.
pub(crate) fn host_and_port(url: &str, port: u16) -> Option<(String, u16)> {
    let authority = url.split_once("://")?.1.split(['/', '?', '#']).next()?;
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (host, typed) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']')?;
            (host, rest.strip_prefix(':'))
        }
        None => authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port))),
    };
    let port = typed.map_or(Some(port), |typed| typed.parse().ok())?;
    (!host.is_empty()).then(|| (host.to_owned(), port))
}

/// The text with what may be a password replaced: between `:` and the last `@` of an authority, and `password=…`.
pub(crate) fn masked(text: &str) -> String {
    let mut masked = text.to_owned();
    if let Some(begin) = masked.find("://").map(|at| at + 3) {
        // A password may hold `/`, `?` and `#` although it should not: everything up to the last `@` counts.
        let at = masked[begin..].rfind('@').map(|at| begin + at);
        let colon = at.and_then(|at| masked[begin..at].find(':').map(|colon| begin + colon));
        if let Some((colon, at)) = colon.zip(at) {
            masked.replace_range(colon + 1..at, "***");
        }
    }
    let mut from = 0;
    while let Some(begin) = masked[from..].to_ascii_lowercase().find("password=").map(|at| from + at + 9) {
        let end = masked[begin..].find(['&', ' ']).map_or(masked.len(), |end| begin + end);
        masked.replace_range(begin..end, "***");
        from = begin + 3;
    }
    masked
}

/// Whether `rest`, an address behind its scheme, has a host and no port that is none: such an address would be watched
/// nowhere.
fn names_a_host(rest: &str) -> bool {
    let host = rest.strip_prefix("//").and_then(|rest| rest.rsplit('@').next());
    host.is_some_and(|host| host_and_port(&format!("any://{host}"), 1).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let said = match text.parse::<WatchSpec>() {
            Ok(spec) => spec.to_string(),
            Err(error) => format!("error: {error}"),
        };
        assert_eq!(said, expected);
    }

    #[test]
    fn each_kind_is_understood() {
        check("pid:17", "pid:17");
        check("api=port:8080", "api=port:8080");
        check("cgroup:/system.slice/api", "cgroup:/system.slice/api");
        check("metrics:http://127.0.0.1:9090/metrics?a=b", "metrics:http://127.0.0.1:9090/metrics?a=b");
        check("redis://127.0.0.1:6379/0", "redis://127.0.0.1:6379/0");
        check("postgresql://localhost/app?sslmode=disable", "postgresql://localhost/app?sslmode=disable");
    }

    #[test]
    fn mistakes_are_named() {
        check("pid:x", "error: `x` is no process id: expected pid:N with a number from 1");
        check("port:70000", "error: `70000` is no port: expected port:N with a number from 1 to 65535");
        check("=pid:1", "error: the name before `=` is empty in `=pid:1`");
        check(
            "metrics:https://h/",
            "error: `https://h/` cannot be read as metrics: expected metrics:http://HOST[:PORT]/PATH",
        );
        check("cgroup:", "error: a control group needs a path: cgroup:PATH");
        assert!(matches!("8080".parse::<WatchSpec>(), Err(SpecError::Unknown(_))));
        assert!(matches!("postgres:///x".parse::<WatchSpec>(), Err(SpecError::Address(..))));
        check(
            "postgres://me:s3cret@db:99999/app",
            "error: `postgres://me:***@db:99999/app` names no host and port: expected \
             postgres://[USER[:PASSWORD]@]HOST[:PORT][/…]",
        );
        assert!(matches!("metrics:http://h:port/".parse::<WatchSpec>(), Err(SpecError::Metrics(_))));
    }

    #[test]
    fn passwords_are_never_shown() {
        for text in [
            "postgres://me:s3cret@db/app",
            "db=postgres://me:s3/cr:et@db/app",
            "redis://:s3cret@h",
            "postgres://db/app?user=me&password=s3cret&x=y",
            "postgres://db/app?PassWord=s3cret",
        ] {
            let spec: WatchSpec = text.parse().unwrap();
            for shown in [spec.to_string(), format!("{spec:?}")] {
                assert!(!shown.contains("s3") && !shown.contains("et@"), "{shown}");
                assert!(shown.contains("***"), "{shown}");
            }
        }
        let error = "mysql://me:s3cret@db".parse::<WatchSpec>().unwrap_err();
        assert!(!error.to_string().contains("s3cret") && !format!("{error:?}").contains("s3cret"));
    }

    #[test]
    fn hosts_are_found_in_urls() {
        assert_eq!(host_and_port("postgres://me:x@db:5433/app", 5432), Some(("db".into(), 5433)));
        assert_eq!(host_and_port("redis://[::1]", 6379), Some(("::1".into(), 6379)));
        assert_eq!(host_and_port("postgres://db?x", 5432), Some(("db".into(), 5432)));
        assert_eq!(host_and_port("postgres://db:port", 5432), None);
    }
}
