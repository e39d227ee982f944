//! How requests reach the service: names, addresses, TLS and pace. Looks up nothing and connects to nothing.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Settings of names, addresses, TLS and pace; the defaults are k6's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetworkSettings {
    /// Names that are not looked up (`hosts`).
    pub hosts: Vec<HostRule>,
    /// How names are looked up.
    pub dns: DnsSettings,
    /// Addresses that are not connected to (`blacklistIPs`).
    pub blocked_networks: Vec<IpNetwork>,
    /// Names that are not connected to (`blockHostnames`).
    pub blocked_hosts: Vec<HostPattern>,
    /// Addresses of this machine that users take turns in using (`localIPs`); empty leaves it to the kernel.
    pub local_addresses: Vec<IpAddr>,
    /// Requests per second of all users together (`rps`).
    pub requests_per_s: Option<u32>,
    /// Requests of one `http.batch` at once; `None` is no limit.
    pub batch: Option<u32>,
    /// The same, to one host.
    pub batch_per_host: Option<u32>,
    /// TLS.
    pub tls: TlsSettings,
    /// Whether requests and responses are logged.
    pub http_debug: Option<HttpDebug>,
}

impl Default for NetworkSettings {
    fn default() -> Self {
        Self {
            hosts: Vec::new(),
            dns: DnsSettings::default(),
            blocked_networks: Vec::new(),
            blocked_hosts: Vec::new(),
            local_addresses: Vec::new(),
            requests_per_s: None,
            batch: Some(20),
            batch_per_host: Some(6),
            tls: TlsSettings::default(),
            http_debug: None,
        }
    }
}

impl NetworkSettings {
    /// Where `hosts` sends requests to `name:port`: a rule with the port before one without, the name itself before a
    /// pattern, a longer pattern before a shorter one.
    pub fn mapped(&self, name: &str, port: u16) -> Option<SocketAddr> {
        let holds = |rule: &&HostRule| rule.port.is_none_or(|wanted| wanted == port) && rule.pattern.holds(name);
        let rule = self
            .hosts
            .iter()
            .filter(holds)
            .max_by_key(|rule| (!rule.pattern.any_below, rule.pattern.name.len(), rule.port.is_some()))?;
        Some(SocketAddr::new(rule.address, rule.to_port.unwrap_or(port)))
    }

    /// Whether `blockHostnames` names this host.
    pub fn blocks_host(&self, name: &str) -> bool {
        self.blocked_hosts.iter().any(|pattern| pattern.holds(name))
    }

    /// Whether `blacklistIPs` holds this address.
    pub fn blocks_address(&self, address: IpAddr) -> bool {
        self.blocked_networks.iter().any(|network| network.holds(address))
    }
}

/// A name that leads to an address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRule {
    /// Which names.
    pub pattern: HostPattern,
    /// Only requests to this port.
    pub port: Option<u16>,
    /// Where to.
    pub address: IpAddr,
    /// To which port; `None` keeps that of the request.
    pub to_port: Option<u16>,
}

/// A host name, or everything that ends in one: `*.example.com`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostPattern {
    /// In small letters, without the star.
    name: String,
    any_below: bool,
}

impl HostPattern {
    /// Whether it means this host.
    pub fn holds(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        if self.any_below { host.ends_with(&self.name) } else { host == self.name }
    }
}

impl FromStr for HostPattern {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let (name, any_below) = text.strip_prefix('*').map_or((text, false), |rest| (rest, true));
        let wrong = name.contains(['*', '/', ' ']) || (name.is_empty() && !any_below);
        if wrong {
            Err(NetworkError::Pattern(text.to_owned()))
        } else {
            Ok(Self { name: name.to_ascii_lowercase(), any_below })
        }
    }
}

/// The two halves of an entry of `hosts`.
impl FromStr for HostRule {
    type Err = NetworkError;

    /// Reads `name[:port]=ip[:port]`.
    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let (from, to) = text.rsplit_once('=').ok_or_else(|| NetworkError::Address(text.to_owned()))?;
        let (name, port) = match from.rsplit_once(':') {
            // An IPv6 address has colons too.
            Some((name, port)) if !name.contains(':') || name.ends_with(']') => {
                (name, Some(port.parse().map_err(|_| NetworkError::Pattern(from.to_owned()))?))
            }
            _ => (from, None),
        };
        let (address, to_port) = match (to.parse::<IpAddr>(), to.parse::<SocketAddr>()) {
            (Ok(address), _) => (address, None),
            (_, Ok(socket)) => (socket.ip(), Some(socket.port())),
            _ => return Err(NetworkError::Address(to.to_owned())),
        };
        Ok(Self { pattern: name.parse()?, port, address, to_port })
    }
}

/// How names are looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DnsSettings {
    /// How long an answer is kept; `None` is for ever.
    pub ttl: Option<Duration>,
    /// Which of several addresses is used.
    pub select: DnsSelect,
    /// Which kinds of addresses are used.
    pub policy: DnsPolicy,
}

impl Default for DnsSettings {
    fn default() -> Self {
        Self { ttl: Some(Duration::from_secs(300)), select: DnsSelect::Random, policy: DnsPolicy::PreferIpv4 }
    }
}

/// Which of several addresses is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DnsSelect {
    /// Always the first.
    First,
    /// Any, for each connection anew.
    Random,
    /// One after the other.
    RoundRobin,
}

/// Which kinds of addresses are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DnsPolicy {
    /// IPv4, and IPv6 only if there is no other.
    PreferIpv4,
    /// IPv6, and IPv4 only if there is no other.
    PreferIpv6,
    /// IPv4.
    OnlyIpv4,
    /// IPv6.
    OnlyIpv6,
    /// All.
    Any,
}

/// Addresses that begin alike: `10.0.0.0/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IpNetwork {
    address: IpAddr,
    bits: u32,
}

impl IpNetwork {
    /// Whether it holds this address.
    pub fn holds(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => (own.to_bits() ^ other.to_bits()).leading_zeros() >= self.bits,
            (IpAddr::V6(own), IpAddr::V6(other)) => (own.to_bits() ^ other.to_bits()).leading_zeros() >= self.bits,
            _ => false,
        }
    }
}

impl FromStr for IpNetwork {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let wrong = || NetworkError::Network(text.to_owned());
        let (address, bits) = text.split_once('/').ok_or_else(wrong)?;
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let bits: u32 = bits.parse().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        if bits <= most { Ok(Self { address, bits }) } else { Err(wrong()) }
    }
}

/// Why a text is no part of these settings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetworkError {
    /// No name.
    #[error("`{0}` is no host name and no pattern such as `*.example.com`")]
    Pattern(String),
    /// No address.
    #[error("`{0}` is no IP address, with or without a port")]
    Address(String),
    /// No network.
    #[error("`{0}` is no network such as `10.0.0.0/8`")]
    Network(String),
}

/// TLS of all connections.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TlsSettings {
    /// The oldest version to offer.
    pub version_min: Option<TlsVersion>,
    /// The newest version to offer.
    pub version_max: Option<TlsVersion>,
    /// Cipher suites of TLS 1.2 to offer, by their names; empty offers all.
    pub cipher_suites: Vec<String>,
    /// Certificates to show to services that ask for one. Never recorded.
    #[serde(skip)]
    pub auth: Vec<ClientCertificate>,
}

/// Versions of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TlsVersion {
    /// 1.0
    Tls10,
    /// 1.1
    Tls11,
    /// 1.2
    Tls12,
    /// 1.3
    Tls13,
}

/// A certificate of a client and its key, in PEM.
#[derive(Clone, PartialEq, Eq)]
pub struct ClientCertificate {
    /// The certificate, and what it is signed by.
    pub certificate: String,
    /// Its private key.
    pub key: String,
    /// The hosts it is meant for; empty means all.
    pub domains: Vec<HostPattern>,
}

/// Says nothing of the key.
impl fmt::Debug for ClientCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientCertificate").field("domains", &self.domains).finish_non_exhaustive()
    }
}

/// What of requests and responses is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HttpDebug {
    /// Request line or status, and headers.
    Heads,
    /// Bodies too.
    Full,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(rules: &[&str]) -> NetworkSettings {
        NetworkSettings { hosts: rules.iter().map(|rule| rule.parse().unwrap()).collect(), ..Default::default() }
    }

    #[test]
    fn hosts_are_mapped_as_in_k6() {
        let settings = hosts(&[
            "a.test=127.0.0.1",
            "*.b.test=127.0.0.2:8080",
            "*.c.b.test=127.0.0.3",
            "a.test:99=127.0.0.4:98",
            "*=[::1]:7",
        ]);
        let check = |name: &str, port: u16, expected: &str| {
            assert_eq!(settings.mapped(name, port), Some(expected.parse().unwrap()), "{name}:{port}");
        };
        check("A.test", 80, "127.0.0.1:80");
        check("a.test", 99, "127.0.0.4:98");
        check("x.b.test", 80, "127.0.0.2:8080");
        check("x.y.b.test", 81, "127.0.0.2:8080");
        check("x.c.b.test", 81, "127.0.0.3:81");
        check("b.test", 80, "[::1]:7");
        assert_eq!(hosts(&["a.test:99=127.0.0.1"]).mapped("a.test", 98), None);
        assert_eq!(hosts(&["a.test=127.0.0.1"]).mapped("b.a.test", 98), None);
        let refused = |rule: &str| rule.parse::<HostRule>().unwrap_err().to_string();
        assert_eq!(refused("a=nowhere"), "`nowhere` is no IP address, with or without a port");
        assert!(refused("a*.b=127.0.0.1").contains("no host name") && refused("a:x=127.0.0.1").contains("a:x"));
    }

    #[test]
    fn networks_hold_what_begins_like_them() {
        let check =
            |network: &str, address: &str| network.parse::<IpNetwork>().unwrap().holds(address.parse().unwrap());
        assert!(check("10.0.0.0/8", "10.255.1.2") && !check("10.0.0.0/8", "11.0.0.0"));
        assert!(check("0.0.0.0/0", "1.2.3.4") && check("10.1.2.3/32", "::ffff:10.1.2.3"));
        assert!(check("fd00::/8", "fd12::1") && !check("fd00::/8", "fe80::1") && !check("::/0", "1.2.3.4"));
        for wrong in ["10.0.0.0", "10.0.0.0/33", "x/8", "10.0.0.0/x"] {
            assert!(wrong.parse::<IpNetwork>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn keys_are_neither_shown_nor_recorded() {
        let auth = vec![ClientCertificate { certificate: "c".into(), key: "s3cret".into(), domains: Vec::new() }];
        let settings = TlsSettings { auth, ..TlsSettings::default() };
        assert!(!format!("{settings:?}{}", serde_json::to_string(&settings).unwrap()).contains("s3cret"));
    }
}
