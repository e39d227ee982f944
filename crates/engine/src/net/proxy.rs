//! Proxies from the environment, by Go's rules: `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` in either case. This machine
//! is never asked for through a proxy.

use std::net::IpAddr;
use std::rc::Rc;

use http::HeaderValue;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use url::{Host, Url};

use super::failure;
use super::target::{Origin, Target, authorization};
use super::wire::Counted;
use crate::user::Failure;

/// Bytes that a proxy's answer to CONNECT may have.
const ANSWER_BYTES_MAX: usize = 16 * 1024;

/// One proxy.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Proxy {
    pub(crate) origin: Origin,
    pub(crate) authorization: Option<HeaderValue>,
}

/// What the environment says.
#[derive(Debug, Default)]
pub(crate) struct Proxies {
    http: Option<Result<Rc<Proxy>, String>>,
    https: Option<Result<Rc<Proxy>, String>>,
    exceptions: Vec<Exception>,
}

/// What is not asked for through a proxy.
#[derive(Debug, PartialEq, Eq)]
enum Exception {
    All,
    /// Addresses whose first bits are these.
    Net(IpAddr, u8),
    /// A name with everything below it, or only what is below it; a port if only that one.
    Name {
        name: String,
        below: bool,
        port: Option<u16>,
    },
    /// An address and a port.
    Address(IpAddr, Option<u16>),
}

impl Proxies {
    /// Reads the variables.
    pub(crate) fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        let either = |name: &str| {
            let set = |name: &str| variable(name).filter(|value| !value.is_empty());
            set(name).or_else(|| set(&name.to_ascii_lowercase()))
        };
        let proxy = |name: &str| {
            either(name).map(|value| Proxy::parse(&value).map(Rc::new).map_err(|why| format!("{name}: {why}")))
        };
        let exceptions = either("NO_PROXY").unwrap_or_default();
        let exceptions = exceptions.split(',').map(str::trim).filter(|text| !text.is_empty());
        Self {
            http: proxy("HTTP_PROXY"),
            https: proxy("HTTPS_PROXY"),
            exceptions: exceptions.map(Exception::parse).collect(),
        }
    }

    /// The proxy for this origin, or why it cannot be used.
    pub(crate) fn of(&self, origin: &Origin) -> Option<Result<Rc<Proxy>, String>> {
        let proxy = if origin.tls { &self.https } else { &self.http };
        proxy.as_ref().filter(|_| !origin.unix && !self.excepts(origin)).cloned()
    }

    fn excepts(&self, origin: &Origin) -> bool {
        let (name, address) = match &origin.host {
            Host::Domain(name) => (name.trim_end_matches('.').to_ascii_lowercase(), None),
            Host::Ipv4(address) => (String::new(), Some(IpAddr::from(*address))),
            Host::Ipv6(address) => (String::new(), Some(IpAddr::from(*address))),
        };
        let here = name == "localhost" || address.is_some_and(|address| address.is_loopback());
        here || self.exceptions.iter().any(|exception| exception.holds(&name, address, origin.port))
    }
}

impl Exception {
    fn parse(text: &str) -> Self {
        let text = text.to_ascii_lowercase();
        if text == "*" {
            return Self::All;
        }
        if let Some((address, bits)) = text.split_once('/')
            && let (Ok(address), Ok(bits)) = (address.parse(), bits.parse())
        {
            return Self::Net(address, bits);
        }
        if let Ok(address) = text.parse() {
            return Self::Address(address, None);
        }
        let (host, port) = match text.rsplit_once(':').map(|(host, port)| (host, port.parse())) {
            Some((host, Ok(port))) => (host, Some(port)),
            _ => (text.as_str(), None),
        };
        if let Ok(address) = host.trim_matches(['[', ']']).parse() {
            return Self::Address(address, port);
        }
        let below = host.starts_with('.') || host.starts_with("*.");
        Self::Name { name: host.trim_start_matches('*').trim_start_matches('.').to_owned(), below, port }
    }

    fn holds(&self, name: &str, address: Option<IpAddr>, at: u16) -> bool {
        match self {
            Self::All => true,
            Self::Net(net, bits) => address.is_some_and(|address| within(address, *net, *bits)),
            Self::Address(known, port) => address == Some(*known) && port.is_none_or(|port| port == at),
            Self::Name { name: known, below, port } => {
                let inside = name.strip_suffix(known.as_str()).is_some_and(|front| front.ends_with('.'));
                (inside || !below && name == known) && port.is_none_or(|port| port == at)
            }
        }
    }
}

fn within(address: IpAddr, net: IpAddr, bits: u8) -> bool {
    let (address, net, all) = match (address, net) {
        (IpAddr::V4(address), IpAddr::V4(net)) => (u128::from(address.to_bits()), u128::from(net.to_bits()), 32),
        (IpAddr::V6(address), IpAddr::V6(net)) => (address.to_bits(), net.to_bits(), 128),
        _ => return false,
    };
    (address ^ net).checked_shr(all - u32::from(bits).min(all)).unwrap_or(0) == 0
}

impl Proxy {
    fn parse(text: &str) -> Result<Self, String> {
        // A URL without its scheme is one of http, as `host:port` is commonly written.
        let url = if text.contains("://") { Url::parse(text) } else { Url::parse(&format!("http://{text}")) };
        // The text itself may hold a password, so that it is not repeated.
        let url = url.map_err(|error| format!("cannot read the URL of the proxy: {error}"))?;
        if url.scheme() != "http" {
            return Err(format!(
                "a proxy of the scheme \"{}\" is not supported: name one that begins with http://",
                url.scheme()
            ));
        }
        let host = url.host().ok_or("the URL of the proxy has no host")?.to_owned();
        let port = url.port_or_known_default().unwrap_or(80);
        Ok(Self { authorization: authorization(&url), origin: Origin { tls: false, unix: false, host, port } })
    }

    /// Asks the proxy for a tunnel to `target`.
    pub(crate) async fn connect(&self, stream: &mut Counted, target: &Target) -> Result<(), Failure> {
        let place = format!("{}:{}", target.origin.host, target.origin.port);
        let mut request = format!("CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n").into_bytes();
        if let Some(value) = &self.authorization {
            request.extend([b"Proxy-Authorization: ", value.as_bytes(), b"\r\n"].concat());
        }
        request.extend_from_slice(b"\r\n");
        let broken = |error: std::io::Error| failure::by_proxy(failure::transport(&error));
        stream.write_all(&request).await.map_err(broken)?;
        let mut answer = Vec::new();
        // Byte by byte, since what is behind the answer belongs to TLS.
        while !answer.ends_with(b"\r\n\r\n") {
            answer.push(stream.read_u8().await.map_err(broken)?);
            if answer.len() > ANSWER_BYTES_MAX {
                return Err(failure::other("proxy: its answer to CONNECT does not end"));
            }
        }
        let mut room = [httparse::EMPTY_HEADER; 64];
        let mut head = httparse::Response::new(&mut room);
        match head.parse(&answer).map(|_| head.code) {
            Ok(Some(200..=299)) => Ok(()),
            Ok(Some(code)) => {
                let reason = head.reason.filter(|reason| !reason.is_empty());
                let reason = reason.map(|reason| format!(" {reason}")).unwrap_or_default();
                Err(failure::other(format!("proxy: CONNECT was answered with {code}{reason}")))
            }
            _ => Err(failure::other("proxy: malformed HTTP response to CONNECT")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(url: &str) -> Origin {
        let url = Url::parse(url).unwrap();
        let (tls, unix) = (url.scheme() == "https", url.scheme() == "http+unix");
        Origin { tls, unix, host: url.host().unwrap().to_owned(), port: url.port_or_known_default().unwrap_or(80) }
    }

    fn proxies(pairs: &[(&str, &str)]) -> Proxies {
        Proxies::read(|name| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn each_scheme_has_its_variable_and_this_machine_none() {
        let proxies = proxies(&[("http_proxy", "proxy:3128"), ("HTTPS_PROXY", "http://ann:s%20t@secure")]);
        let port = |url: &str| proxies.of(&origin(url)).map(|proxy| proxy.unwrap().origin.port);
        assert_eq!((port("http://shop.example/"), port("https://shop.example/")), (Some(3128), Some(80)));
        for here in ["http://localhost/", "http://127.0.0.9/", "https://[::1]/", "http+unix://%2Fa/"] {
            assert_eq!(port(here), None, "{here}");
        }
        let secure = proxies.of(&origin("https://shop.example/")).unwrap().unwrap();
        assert_eq!(secure.authorization.as_ref().unwrap(), "Basic YW5uOnMgdA==");
    }

    #[test]
    fn exceptions_are_names_networks_and_ports() {
        let check = |exceptions: &str, url: &str, expected: bool| {
            let proxies = proxies(&[("HTTP_PROXY", "http://p"), ("NO_PROXY", exceptions)]);
            assert_eq!(proxies.of(&origin(url)).is_none(), expected, "{exceptions} {url}");
        };
        check("*", "http://a.b/", true);
        check("shop.example", "http://shop.example/", true);
        check("shop.example", "http://EU.shop.example/", true);
        check("shop.example", "http://workshop.example/", false);
        check(".shop.example", "http://shop.example/", false);
        check("x, *.shop.example", "http://a.shop.example/", true);
        check("shop.example:81", "http://shop.example/", false);
        check("shop.example:81", "http://shop.example:81/", true);
        check("10.1.0.0/16", "http://10.1.255.1/", true);
        check("10.1.0.0/16", "http://10.2.0.1/", false);
        check("fd00::/8", "http://[fd01::1]/", true);
        check("10.2.0.1", "http://10.2.0.1/", true);
        check("0.0.0.0/0", "http://8.8.8.8/", true);
    }

    #[test]
    fn what_is_not_supported_is_said_without_the_password() {
        let proxies = proxies(&[("HTTP_PROXY", "socks5://ann:secret@p:1"), ("HTTPS_PROXY", "http://:secret@")]);
        let said = |url: &str| proxies.of(&origin(url)).unwrap().unwrap_err();
        assert!(said("http://a.b/").contains("HTTP_PROXY: a proxy of the scheme \"socks5\" is not supported"));
        let text = said("https://a.b/");
        assert!(text.contains("cannot read the URL of the proxy") && !text.contains("secret"), "{text}");
    }
}
