//! What `httpDebug` logs: requests and responses as they are sent and read. Secrets in headers are masked; bodies are
//! logged only where all of it was asked for.

use std::fmt::Write;

use bytes::Bytes;
use http::header::{AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION, SET_COOKIE};
use http::{HeaderName, HeaderValue};
use model::network::HttpDebug;

use super::connection::Answered;
use super::cookies::SharedJar;
use super::outgoing::{Defaults, Outgoing};

/// Bytes of a body that are logged.
const BODY_MAX: usize = 64 * 1024;

/// A request as text: the headers and the body that go out, whatever protocol carries them.
pub(crate) fn request(outgoing: &Outgoing<'_>, defaults: &Defaults, jar: &SharedJar, what: HttpDebug) -> String {
    let host = outgoing.target.url.host_str().unwrap_or_default();
    let uri = &outgoing.target.uri;
    let mut text = format!("Request: {} {uri} (to {host})\n", outgoing.method);
    outgoing.each(defaults, jar, |name, value| header(&mut text, name, value));
    add_body(&mut text, Some(&outgoing.body), what);
    text
}

/// A response as text.
pub(crate) fn response(answered: &Answered, what: HttpDebug) -> String {
    let mut text = format!("Response: {} {}\n", answered.head.proto, answered.head.status);
    for (name, value) in &*answered.head.headers {
        header(&mut text, name, value);
    }
    add_body(&mut text, answered.body.as_ref(), what);
    text
}

fn header(text: &mut String, name: &HeaderName, value: &HeaderValue) {
    let shown = if is_secret(name) { "***".into() } else { String::from_utf8_lossy(value.as_bytes()) };
    // Writing to a text cannot fail.
    let _ = writeln!(text, "{name}: {shown}");
}

fn is_secret(name: &HeaderName) -> bool {
    [AUTHORIZATION, PROXY_AUTHORIZATION, COOKIE, SET_COOKIE].contains(name)
}

fn add_body(text: &mut String, body: Option<&Bytes>, what: HttpDebug) {
    let Some(body) = body.filter(|body| what == HttpDebug::Full && !body.is_empty()) else { return };
    let shown = &body[..body.len().min(BODY_MAX)];
    let _ = writeln!(text, "\n{}", String::from_utf8_lossy(shown));
    if body.len() > BODY_MAX {
        let _ = writeln!(text, "… {} bytes more", body.len() - BODY_MAX);
    }
}
