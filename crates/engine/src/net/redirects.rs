//! Redirects, by the rules of k6 (which are Go's).

use bytes::Bytes;
use http::header::{AUTHORIZATION, COOKIE, HOST, LOCATION};
use http::{Method, StatusCode, header};

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

/// Turns `request` into the one for the next hop: 307 and 308 repeat it, the others become a GET without a body.
pub(crate) fn redirect(request: &mut Request, status: StatusCode, from: &Target, to: &Target) {
    if !matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT) {
        if request.method != Method::HEAD {
            request.method = Method::GET;
        }
        request.body = Bytes::new();
        for name in [header::CONTENT_TYPE, header::CONTENT_LENGTH, header::CONTENT_ENCODING, header::TRANSFER_ENCODING]
        {
            request.headers.remove(name);
        }
    }
    if from.origin.host != to.origin.host {
        for name in [AUTHORIZATION, COOKIE, HOST] {
            request.headers.remove(name);
        }
        request.cookies.clear();
    }
}
