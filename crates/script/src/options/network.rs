//! Options about names, addresses, TLS and pace.

use model::network::{
    ClientCertificate, DnsPolicy, DnsSelect, DnsSettings, HostRule, HttpDebug, NetworkSettings, TlsSettings, TlsVersion,
};
use serde_json::Value;

use super::duration::parse_duration;
use super::read::{Fields, Notes, expected};

const POLICIES: [(&str, DnsPolicy); 5] = [
    ("preferIPv4", DnsPolicy::PreferIpv4),
    ("preferIPv6", DnsPolicy::PreferIpv6),
    ("onlyIPv4", DnsPolicy::OnlyIpv4),
    ("onlyIPv6", DnsPolicy::OnlyIpv6),
    ("any", DnsPolicy::Any),
];
const SELECTS: [(&str, DnsSelect); 3] =
    [("first", DnsSelect::First), ("random", DnsSelect::Random), ("roundRobin", DnsSelect::RoundRobin)];
const VERSIONS: [(&str, TlsVersion); 4] = [
    ("tls1.0", TlsVersion::Tls10),
    ("tls1.1", TlsVersion::Tls11),
    ("tls1.2", TlsVersion::Tls12),
    ("tls1.3", TlsVersion::Tls13),
];

/// Reads all of them.
pub(super) fn network(top: &mut Fields<'_>, notes: &mut Notes) -> NetworkSettings {
    let default = NetworkSettings::default();
    NetworkSettings {
        hosts: hosts(top, notes),
        dns: dns(top, notes),
        blocked_networks: parsed(top, notes, "blacklistIPs"),
        blocked_hosts: parsed(top, notes, "blockHostnames"),
        local_addresses: local_addresses(top, notes),
        requests_per_s: top.users(notes, "rps").filter(|rate| *rate > 0),
        batch: limit(top, notes, "batch", default.batch),
        batch_per_host: limit(top, notes, "batchPerHost", default.batch_per_host),
        tls: tls(top, notes),
        http_debug: http_debug(top, notes),
    }
}

/// 0 is no limit.
fn limit(top: &mut Fields<'_>, notes: &mut Notes, key: &'static str, default: Option<u32>) -> Option<u32> {
    match top.users(notes, key) {
        Some(0) => None,
        Some(limit) => Some(limit),
        None => default,
    }
}

/// A list of texts, each of which says something.
fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(
    top: &mut Fields<'_>,
    notes: &mut Notes,
    key: &'static str,
) -> Vec<T> {
    let texts = top.texts(notes, key).unwrap_or_default();
    let label = top.label(key);
    let read = |text: String| text.parse().map_err(|error| notes.mistake(format!("{label}: {error}"))).ok();
    texts.into_iter().filter_map(read).collect()
}

fn hosts(top: &mut Fields<'_>, notes: &mut Notes) -> Vec<HostRule> {
    let map = top.text_map(notes, "hosts").unwrap_or_default();
    let label = top.label("hosts");
    let rule = |(from, to): (String, String)| {
        format!("{from}={to}").parse().map_err(|error| notes.mistake(format!("{label}: {error}"))).ok()
    };
    map.into_iter().filter_map(rule).collect()
}

fn dns(top: &mut Fields<'_>, notes: &mut Notes) -> DnsSettings {
    let default = DnsSettings::default();
    let Some(map) = top.object(notes, "dns") else { return default };
    let mut fields = Fields::new("option `dns`,", map);
    let select = one_of(&mut fields, notes, "select", &SELECTS);
    let policy = one_of(&mut fields, notes, "policy", &POLICIES);
    let ttl = match fields.value("ttl") {
        None => default.ttl,
        Some(Value::String(text)) if text == "inf" => None,
        Some(Value::String(text)) if !text.is_empty() => match parse_duration(text) {
            Ok(ttl) => Some(ttl),
            Err(error) => {
                notes.mistake(format!("{}: {error} (or `inf`)", fields.label("ttl")));
                default.ttl
            }
        },
        Some(_) => fields.duration(notes, "ttl").or(default.ttl),
    };
    for unknown in fields.unknown() {
        notes.warning(format!("option `dns` has no key `{unknown}`: it is ignored"));
    }
    DnsSettings { ttl, select: select.unwrap_or(default.select), policy: policy.unwrap_or(default.policy) }
}

/// What one of several words stands for.
fn one_of<T: Copy>(fields: &mut Fields<'_>, notes: &mut Notes, key: &'static str, words: &[(&str, T)]) -> Option<T> {
    let text = fields.text(notes, key)?;
    let found = words.iter().find(|(word, _)| word.eq_ignore_ascii_case(text)).map(|(_, meaning)| *meaning);
    if found.is_none() {
        let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        notes.mistake(format!("{}: `{text}` is none of {}", fields.label(key), words.join(", ")));
    }
    found
}

/// Addresses, ranges `a-b` and networks of this machine, in one text. Of a network without its two ends, as in k6.
fn local_addresses(top: &mut Fields<'_>, notes: &mut Notes) -> Vec<std::net::IpAddr> {
    const MOST: u128 = 65_536;
    let Some(text) = top.text(notes, "localIPs").filter(|text| !text.is_empty()) else { return Vec::new() };
    let mut all = Vec::new();
    for part in text.split(',') {
        match address_range(part.trim()) {
            Some((first, last)) if last - first < MOST => {
                let is_v4 = !part.contains(':');
                all.extend((first..=last).map(|bits| address(bits, is_v4)));
            }
            Some(_) => notes.mistake(format!("option `localIPs`: `{part}` has more than {MOST} addresses")),
            None => notes.mistake(format!(
                "option `localIPs`: `{part}` is none of an address, a range such as `10.0.0.1-10.0.0.9` and a network such \
                 as `10.0.0.0/24`"
            )),
        }
    }
    all
}

fn address(bits: u128, is_v4: bool) -> std::net::IpAddr {
    match u32::try_from(bits) {
        Ok(bits) if is_v4 => std::net::Ipv4Addr::from_bits(bits).into(),
        _ => std::net::Ipv6Addr::from_bits(bits).into(),
    }
}

fn bits(text: &str) -> Option<(u128, u32)> {
    match text.trim().parse().ok()? {
        std::net::IpAddr::V4(address) => Some((address.to_bits().into(), 32)),
        std::net::IpAddr::V6(address) => Some((address.to_bits(), 128)),
    }
}

/// The first and the last address that a text means.
fn address_range(text: &str) -> Option<(u128, u128)> {
    if let Some((first, last)) = text.split_once('-') {
        let ((first, width), (last, same)) = (bits(first)?, bits(last)?);
        return (first <= last && width == same).then_some((first, last));
    }
    let Some((network, length)) = text.split_once('/') else {
        let (only, _) = bits(text)?;
        return Some((only, only));
    };
    let (network, width) = bits(network)?;
    let free = width.checked_sub(length.parse().ok()?)?;
    let mask = 1_u128.checked_shl(free).map_or(u128::MAX, |size| size - 1);
    let (first, last) = (network & !mask, network | mask);
    // Network and broadcast address are nobody's.
    Some(if free > 1 { (first + 1, last - 1) } else { (first, last) })
}

fn tls(top: &mut Fields<'_>, notes: &mut Notes) -> TlsSettings {
    let (version_min, version_max) = versions(top, notes);
    let cipher_suites = top.texts(notes, "tlsCipherSuites").unwrap_or_default();
    let settings = TlsSettings { version_min, version_max, cipher_suites, auth: auth(top, notes) };
    if let Err(mistakes) = engine::check_tls(&settings) {
        mistakes.into_iter().for_each(|mistake| notes.mistake(mistake));
    }
    settings
}

fn versions(top: &mut Fields<'_>, notes: &mut Notes) -> (Option<TlsVersion>, Option<TlsVersion>) {
    match top.value("tlsVersion") {
        None => (None, None),
        Some(Value::Object(map)) => {
            let mut fields = Fields::new("option `tlsVersion`,", map);
            let (min, max) =
                (one_of(&mut fields, notes, "min", &VERSIONS), one_of(&mut fields, notes, "max", &VERSIONS));
            for unknown in fields.unknown() {
                notes.warning(format!("option `tlsVersion` has no key `{unknown}`: it is ignored"));
            }
            (min, max)
        }
        Some(Value::String(text)) if text.is_empty() => (None, None),
        Some(Value::String(_)) => {
            let version = one_of(top, notes, "tlsVersion", &VERSIONS);
            (version, version)
        }
        Some(other) => {
            notes.mistake(expected("option `tlsVersion`", "text or `{ min, max }`", other));
            (None, None)
        }
    }
}

fn auth(top: &mut Fields<'_>, notes: &mut Notes) -> Vec<ClientCertificate> {
    let mut all = Vec::new();
    for (at, value) in top.list(notes, "tlsAuth").unwrap_or_default().iter().enumerate() {
        let place = format!("option `tlsAuth`[{at}]");
        let Some(map) = value.as_object() else {
            // Not `expected`: what was given may be a key.
            notes.mistake(format!("{place}: `{{ cert, key, domains }}` is expected"));
            continue;
        };
        let mut fields = Fields::new(format!("{place},"), map);
        let certificate = fields.required(notes, "cert", |fields, notes, key| fields.text(notes, key));
        let key = fields.required(notes, "key", |fields, notes, key| fields.text(notes, key));
        let domains = parsed(&mut fields, notes, "domains");
        if fields.text(notes, "password").is_some_and(|password| !password.is_empty()) {
            notes.mistake(format!(
                "{place}: a private key with a password is not supported: take it away with `openssl pkey -in key.pem`"
            ));
            continue;
        }
        for unknown in fields.unknown() {
            notes.warning(format!("{place} has no key `{unknown}`: it is ignored"));
        }
        if let (Some(certificate), Some(key)) = (certificate, key) {
            all.push(ClientCertificate { certificate: certificate.to_owned(), key: key.to_owned(), domains });
        }
    }
    all
}

fn http_debug(top: &mut Fields<'_>, notes: &mut Notes) -> Option<HttpDebug> {
    match top.text(notes, "httpDebug")? {
        "" | "false" => None,
        "full" => Some(HttpDebug::Full),
        "true" | "headers" => Some(HttpDebug::Heads),
        other => {
            notes.mistake(format!("option `httpDebug`: `{other}` is none of headers and full"));
            None
        }
    }
}
