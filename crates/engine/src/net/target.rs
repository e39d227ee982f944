//! Where a request goes: its URL taken apart once, and remembered.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use foldhash::fast::FixedState;
use http::{HeaderValue, Uri};
use percent_encoding::percent_decode_str;
use url::{Host, Url};

use super::{failure, names};
use crate::meter::{Endpoint, Meter};
use crate::user::Failure;

/// One end of connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) tls: bool,
    /// Whether it is a socket in the file system; then `host` is its path.
    pub(crate) unix: bool,
    pub(crate) host: Host<String>,
    pub(crate) port: u16,
}

/// A URL taken apart.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) url: Url,
    pub(crate) origin: Origin,
    /// What the request line says: path and query.
    pub(crate) uri: Uri,
    pub(crate) host_header: HeaderValue,
    /// From user and password in the URL.
    pub(crate) authorization: Option<HeaderValue>,
    /// The endpoint of requests that the script gives no name.
    pub(crate) endpoint: Endpoint,
}

fn no_scheme(scheme: &str) -> Failure {
    failure::other(format!("unsupported protocol scheme \"{scheme}\""))
}

impl Target {
    pub(crate) fn parse(text: &str, meter: &Meter) -> Result<Self, Failure> {
        let url = Url::parse(text).map_err(|error| match error {
            url::ParseError::RelativeUrlWithoutBase => no_scheme(""),
            error => wrong(format!("invalid URL: {error}")),
        })?;
        Self::of(url.clone(), &url, meter)
    }

    /// The target of a WebSocket's handshake, which counts under the URL that the script gave.
    pub(crate) fn of_socket(text: &str, meter: &Meter) -> Result<Self, Failure> {
        let given = Url::parse(text).map_err(|error| wrong(format!("invalid URL: {error}")))?;
        let scheme = match given.scheme() {
            "ws" => "http",
            "wss" => "https",
            _ => return Err(wrong("malformed ws or wss URL".to_owned())),
        };
        let mut url = given.clone();
        url.set_scheme(scheme).expect("both schemes are of one kind");
        Self::of(url, &given, meter)
    }

    /// The target of `url`, which counts under `shown`.
    fn of(url: Url, shown: &Url, meter: &Meter) -> Result<Self, Failure> {
        let (tls, unix) = match url.scheme() {
            "http" => (false, false),
            "https" => (true, false),
            "http+unix" => (false, true),
            scheme => return Err(no_scheme(scheme)),
        };
        let mut host = url.host().ok_or_else(|| wrong("invalid URL: no host".to_owned()))?.to_owned();
        let mut authority = url.port().map_or_else(|| host.to_string(), |port| format!("{host}:{port}"));
        if unix {
            let path = String::from_utf8(percent_decoded(&host.to_string()));
            let path = path.ok().filter(|path| path.starts_with('/'));
            let path = path.ok_or_else(|| {
                wrong("invalid URL: http+unix://%2Fpath%2Fto.sock/ is the form of a URL of a unix socket".to_owned())
            })?;
            (host, authority) = (Host::Domain(path), "localhost".to_owned());
        }
        let port = url.port_or_known_default().unwrap_or(80);
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        let path = if url.path().is_empty() { "/" } else { url.path() };
        let uri = format!("{path}{query}");
        let uri = uri.parse().map_err(|error| wrong(format!("invalid URL: {error}")))?;
        let host_header = HeaderValue::try_from(authority).map_err(|error| wrong(format!("invalid URL: {error}")))?;
        let name = if meter.plan().http.group_names { names::grouped(shown) } else { names::plain(shown) };
        Ok(Self {
            authorization: authorization(&url),
            origin: Origin { tls, unix, host, port },
            uri,
            host_header,
            endpoint: meter.endpoint(&name),
            url,
        })
    }
}

fn wrong(text: String) -> Failure {
    Failure { code: 1020, text }
}

/// `Basic …` for user and password of the URL.
pub(crate) fn authorization(url: &Url) -> Option<HeaderValue> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let mut plain = percent_decoded(url.username());
    plain.push(b':');
    plain.extend(percent_decoded(url.password().unwrap_or_default()));
    HeaderValue::try_from(format!("Basic {}", STANDARD.encode(&plain))).ok()
}

/// The bytes that a part of a URL stands for.
pub(crate) fn percent_decoded(text: &str) -> Vec<u8> {
    percent_decode_str(text).collect()
}

/// The targets of one worker. Forgets all of them when there are too many, so that memory stays flat.
#[derive(Default)]
pub(crate) struct Targets {
    known: RefCell<HashMap<String, Rc<Target>, FixedState>>,
}

impl Targets {
    const MAX: usize = 1024;

    pub(crate) fn at(&self, url: &str, meter: &Meter) -> Result<Rc<Target>, Failure> {
        if let Some(known) = self.known.borrow().get(url) {
            return Ok(known.clone());
        }
        let target = Rc::new(Target::parse(url, meter)?);
        let mut known = self.known.borrow_mut();
        if known.len() >= Self::MAX {
            known.clear();
        }
        known.insert(url.to_owned(), target.clone());
        Ok(target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_and_password_become_basic_authorization() {
        let check =
            |url: &str| authorization(&Url::parse(url).unwrap()).map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(check("http://Aladdin:open%20sesame@h/").as_deref(), Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="));
        assert_eq!(check("http://a@h/").as_deref(), Some("Basic YTo="));
        assert_eq!(check("http://h/"), None);
    }
}
