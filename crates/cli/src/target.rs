//! What is loaded, and whether it may be: this machine and private networks are, everything else must be allowed by
//! name. The check is on addresses, after every look-up, so a name cannot lead elsewhere.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use model::network::NetworkSettings;

use crate::exit::{Exit, Failure};

/// What `find` was pointed at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// One GET per iteration.
    Url(url::Url),
    /// A k6 script.
    Script(PathBuf),
}

impl Target {
    /// Reads what was typed.
    ///
    /// # Errors
    /// If it is a URL of another scheme, or neither a URL nor a file.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        if let Some((scheme, _)) = text.split_once("://") {
            if !matches!(scheme, "http" | "https" | "http+unix") {
                return Err(Failure::config(format!(
                    "cannot load {text}: only http:// and https:// URLs can be loaded (and http+unix:// ones, \
                     http+unix://%2Fpath%2Fto.sock/, for unix sockets)"
                )));
            }
            let url = url::Url::parse(text).with_context(|| format!("`{text}` is no URL"));
            let url = url.map_err(|error| Failure { exit: Exit::InvalidConfig, error })?;
            return Ok(Self::Url(url));
        }
        if Path::new(text).exists() {
            return Ok(Self::Script(PathBuf::from(text)));
        }
        let hint = if text.contains(['.', ':']) && !text.ends_with(".js") {
            format!(" (a URL begins with http://: did you mean http://{text}?)")
        } else {
            String::new()
        };
        Err(Failure::new(Exit::Other, format!("cannot open {text}: there is no such script{hint}")))
    }
}

/// The URL as it may be shown and recorded: without its password.
pub(crate) fn shown(url: &url::Url) -> String {
    let mut shown = url.clone();
    if shown.password().is_some() {
        // Fails only for URLs without a host, which hold no password.
        let _ = shown.set_password(Some("***"));
    }
    shown.into()
}

/// Which hosts may be loaded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guard {
    allowed: Vec<String>,
}

impl Guard {
    /// This machine, private networks and `allowed` by name or address.
    pub(crate) fn new(allowed: &[String]) -> Self {
        Self { allowed: allowed.iter().map(|host| host.to_ascii_lowercase()).collect() }
    }

    /// Whether `host`, found at `address`, may be loaded.
    pub(crate) fn permits(&self, host: &str, address: IpAddr) -> bool {
        let named =
            self.allowed.iter().any(|known| *known == host.to_ascii_lowercase() || *known == address.to_string());
        named || is_ours(address)
    }
}

/// The sentence for a refused target.
pub(crate) fn refusal(host: &str, address: IpAddr) -> String {
    format!(
        "refused to load {host} ({address}): it is neither on this machine nor in a private network; \
         if it is yours to load, say so with --allow {host}"
    )
}

fn is_ours(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_loopback() || v4.is_private() || v4.is_link_local() || v4.is_unspecified(),
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => is_ours(IpAddr::V4(v4)),
            None => v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local() || v6.is_unspecified(),
        },
    }
}

/// Looks the host of `url` up as the plan says, checks that it may be loaded and that something answers there. There is
/// no address to tell for a unix socket, nor for what a proxy is asked for, which the engine looks at.
///
/// # Errors
/// 122 for a target that is not ours, 255 if the name is unknown or nothing answers.
pub(crate) fn reach(url: &url::Url, network: &NetworkSettings, guard: &Guard) -> Result<Option<SocketAddr>, Failure> {
    if url.scheme() == "http+unix" || engine::goes_by_proxy(url.as_str()) {
        return Ok(None);
    }
    let host = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default().unwrap_or(80);
    let bare = host.trim_matches(['[', ']']);
    let addresses: Vec<SocketAddr> = match network.mapped(bare, port) {
        Some(address) => vec![address],
        None => {
            let found = (bare, port).to_socket_addrs();
            found.with_context(|| format!("cannot look up {host}: check the name"))?.collect()
        }
    };
    if let Some(refused) = addresses.iter().find(|address| !guard.permits(bare, address.ip())) {
        return Err(Failure::new(Exit::TargetRefused, refusal(bare, refused.ip())));
    }
    let mut last = String::from("the name has no address");
    for address in addresses {
        match std::net::TcpStream::connect_timeout(&address, Duration::from_secs(5)) {
            Ok(_) => return Ok(Some(address)),
            Err(error) => last = format!("{address}: {error}"),
        }
    }
    let sentence = format!("nothing answers at {host}:{port} ({last}): start the service, or check host and port");
    Err(Failure::new(Exit::Other, sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_ours_may_be_loaded() {
        let guard = Guard::new(&["Shop.example".to_owned()]);
        let check = |host: &str, address: &str| guard.permits(host, address.parse().unwrap());
        assert!(
            check("localhost", "127.0.0.1") && check("a", "10.1.2.3") && check("a", "::1") && check("a", "fd00::1")
        );
        assert!(check("shop.example", "93.184.216.34"));
        assert!(
            !check("other.example", "93.184.216.34") && !check("a", "::ffff:8.8.8.8") && !check("a", "2001:db8::1")
        );
    }

    #[test]
    fn passwords_are_not_shown() {
        let of = |text: &str| shown(&url::Url::parse(text).unwrap());
        assert_eq!(of("http://me:s3cret@127.0.0.1:1/x?y"), "http://me:***@127.0.0.1:1/x?y");
        assert_eq!(of("http://127.0.0.1:1/x@y:z"), "http://127.0.0.1:1/x@y:z");
    }

    #[test]
    fn targets_are_urls_or_files() {
        assert!(matches!(Target::parse("http://127.0.0.1:8080/x"), Ok(Target::Url(_))));
        let sentence = |text: &str| Target::parse(text).unwrap_err().error.to_string();
        assert!(sentence("ftp://a/b").contains("only http:// and https://"));
        assert!(sentence("127.0.0.1:8080").contains("did you mean http://127.0.0.1:8080?"));
        assert!(sentence("nowhere.js").contains("no such script"));
    }
}
