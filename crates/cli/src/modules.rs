//! Fetches remote modules of scripts, before the run: the one place outside of the engine that opens a connection. Must
//! never be used while load is made.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use script::{Fetch, ModuleSettings, Network};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Error, ResponseExt, http::Uri};

use crate::args;

/// A module and its answer must come within these.
const CONNECT_MAX: Duration = Duration::from_secs(10);
const FETCH_MAX: Duration = Duration::from_secs(60);
/// Longest text of a module: the largest libraries have a tenth of it.
const BYTES_MAX: u64 = 16 * 1024 * 1024;

/// How a script gets its remote modules.
pub(crate) fn settings(flags: &args::Script) -> ModuleSettings {
    let network = match (flags.offline, flags.refresh_modules) {
        (true, _) => Network::Never,
        (false, true) => Network::Refresh,
        (false, false) => Network::WhenNeeded,
    };
    ModuleSettings { fetch: Some(fetcher()), cache: cache(), network }
}

/// `PLIMSOLL_CACHE`, else the folder for caches of this user.
fn cache() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let own = folder("PLIMSOLL_CACHE").map(|folder| folder.join("modules"));
    let of_user = || folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")));
    own.or_else(|| Some(of_user()?.join("plimsoll/modules")))
}

fn fetcher() -> Fetch {
    Arc::new(|url| {
        // Reading the machine's trust roots takes a while: only who needs them waits for it.
        let roots = rustls_native_certs::load_native_certs().certs;
        let roots = roots.iter().map(|der| Certificate::from_der(der).to_owned()).collect();
        let tls = TlsConfig::builder().root_certs(RootCerts::Specific(Arc::new(roots))).build();
        let config = Agent::config_builder()
            .tls_config(tls)
            .timeout_connect(Some(CONNECT_MAX))
            .timeout_global(Some(FETCH_MAX))
            .http_status_as_error(false)
            .user_agent(concat!("plimsoll/", env!("CARGO_PKG_VERSION")))
            .build();
        fetch(&Agent::new_with_config(config), url.as_str())
    })
}

fn fetch(agent: &Agent, url: &str) -> Result<Vec<u8>, String> {
    let mut response = agent.get(url).call().map_err(|error| reason(&error))?;
    let end: &Uri = response.get_uri();
    if url.starts_with("https:") && end.scheme_str() != Some("https") {
        return Err(format!("it was redirected to {end}, which is not https"));
    }
    if !response.status().is_success() {
        return Err(format!("the server answered {}", response.status()));
    }
    if response.body().content_length().is_some_and(|length| length > BYTES_MAX) {
        return Err(reason(&Error::BodyExceedsLimit(BYTES_MAX)));
    }
    response.body_mut().with_config().limit(BYTES_MAX).read_to_vec().map_err(|error| reason(&error))
}

const UNKNOWN_HOST: &str = "the name of the host is not known (DNS)";

fn reason(error: &Error) -> String {
    match error {
        Error::HostNotFound => UNKNOWN_HOST.to_owned(),
        // The resolver of the machine has no kind of its own for it.
        Error::Io(error) if error.to_string().contains("lookup address") => UNKNOWN_HOST.to_owned(),
        Error::BodyExceedsLimit(_) => format!("it is larger than {} MB", BYTES_MAX / 1024 / 1024),
        Error::Timeout(_) => format!("no answer within {} s", FETCH_MAX.as_secs()),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use super::*;

    /// What a server that gives this answer to everything leads to.
    fn fetched(answer: &'static [u8]) -> Result<Vec<u8>, String> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/lib.js", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]).unwrap();
            stream.write_all(answer).unwrap();
        });
        let result = fetcher()(&url.parse().unwrap());
        server.join().unwrap();
        result
    }

    #[test]
    fn a_text_or_the_reason_why_not() {
        assert_eq!(fetched(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nlet;"), Ok(b"let;".to_vec()));
        let gone = fetched(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
        assert_eq!(gone, Err("the server answered 404 Not Found".to_owned()));
        let large = fetched(b"HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n");
        assert_eq!(large, Err("it is larger than 16 MB".to_owned()));
        let error = fetcher()(&"https://nowhere.invalid/x.js".parse().unwrap()).unwrap_err();
        assert_eq!(error, "the name of the host is not known (DNS)");
    }
}
