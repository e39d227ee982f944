//! Redirects, by the rules of k6 (which are Go's).

use bytes::Bytes;
use http::header::{
    AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, COOKIE, HOST, LOCATION, REFERER, TRANSFER_ENCODING,
};
use http::{HeaderValue, Method, StatusCode};

use super::connection::Answered;
use super::failure;
use super::target::Target;
use crate::user::{Failure, Request};

/// The scheme of unix sockets. No service may send its client to them.
const UNIX: &str = "http+unix";

/// Where an answer sends the client, if it does.
pub(crate) fn redirection(answered: &Answered, from: &Target) -> Option<Result<url::Url, Failure>> {
    if !matches!(answered.head.status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = answered.head.headers.get(LOCATION)?;
    let location = String::from_utf8_lossy(location.as_bytes());
    let url = from.url.join(&location);
    if url.as_ref().is_ok_and(|url| url.scheme() == UNIX) && from.url.scheme() != UNIX {
        return Some(Err(failure::other(format!("refused to follow a redirect to the unix socket {location}"))));
    }
    Some(url.map_err(|error| failure::other(format!("failed to parse Location header \"{location}\": {error}"))))
}

/// Turns `request` into the one for the next hop: 307 and 308 repeat it, the others become a GET without a body, which
/// keeps the Content-Type all the same. The next hop is told where it comes from, unless that would let out of TLS
/// what was said in it.
pub(crate) fn redirect(request: &mut Request, status: StatusCode, from: &Target, to: &Target) {
    if !matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT) {
        if request.method != Method::HEAD {
            request.method = Method::GET;
        }
        request.body = Bytes::new();
        for name in [CONTENT_LENGTH, CONTENT_ENCODING, TRANSFER_ENCODING] {
            request.headers.remove(name);
        }
    }
    if from.origin.tls && !to.origin.tls {
        request.headers.remove(REFERER);
    } else if let Some(referer) = referer(&from.url) {
        request.headers.insert(REFERER, referer);
    }
    if from.origin.host != to.origin.host {
        for name in [AUTHORIZATION, COOKIE, HOST] {
            request.headers.remove(name);
        }
        request.cookies.clear();
    }
}

/// A URL as the next hop may see it: without user, password and fragment.
fn referer(url: &url::Url) -> Option<HeaderValue> {
    let mut url = url.clone();
    url.set_fragment(None);
    // Only URLs without a host, which nothing was sent to, have no place for these.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    HeaderValue::try_from(String::from(url)).ok()
}
