//! What `httpDebug` logs: requests and responses as they are sent and read. Secrets in headers are masked; bodies are
//! logged only where all of it was asked for.

use std::fmt::Write;

use bytes::Bytes;
use http::header::{AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION, SET_COOKIE};
use http::{HeaderMap, HeaderName};
use http_body_util::Full;
use model::network::HttpDebug;

use super::connection::Answered;
use super::target::Target;

/// Bytes of a body that are logged.
const BODY_MAX: usize = 64 * 1024;

/// A request as text.
pub(crate) fn request(request: &http::Request<Full<Bytes>>, target: &Target, body: &Bytes, what: HttpDebug) -> String {
    let mut text =
        format!("Request: {} {} (to {})\n", request.method(), request.uri(), target.url.host_str().unwrap_or(""));
    headers(&mut text, request.headers());
    add_body(&mut text, Some(body), what);
    text
}

/// A response as text.
pub(crate) fn response(answered: &Answered, what: HttpDebug) -> String {
    let mut text = format!("Response: {:?} {}\n", answered.head.version, answered.head.status);
    headers(&mut text, &answered.head.headers);
    add_body(&mut text, answered.body.as_ref(), what);
    text
}

fn headers(text: &mut String, headers: &HeaderMap) {
    for (name, value) in headers {
        let shown = if is_secret(name) { "***".into() } else { String::from_utf8_lossy(value.as_bytes()) };
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{name}: {shown}");
    }
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
