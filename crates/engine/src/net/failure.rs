//! Why a request failed, in k6's codes and words. What is the fault of this machine says so in words of our own.

use std::error::Error;
use std::io;

use crate::coding::Unpacking;
use crate::user::Failure;

fn failure(code: u32, text: impl Into<String>) -> Failure {
    Failure { code, text: text.into() }
}

/// `timeout` passed.
pub(crate) fn timeout() -> Failure {
    failure(1050, "request timeout")
}

/// The answer carried a status from 400 on.
pub(crate) fn status(status: u16) -> Option<Failure> {
    (400..600).contains(&status).then(|| failure(1000 + u32::from(status), ""))
}

/// Anything without a code of its own.
pub(crate) fn other(text: impl Into<String>) -> Failure {
    failure(1000, text)
}

/// The name of the host could not be resolved.
pub(crate) fn lookup(error: &io::Error) -> Failure {
    let text = error.to_string();
    let unknown = ["not known", "No address associated", "nodename nor servname"];
    if unknown.iter().any(|part| text.contains(part)) {
        return failure(1101, "lookup: no such host");
    }
    let text = text.rsplit(": ").next().unwrap_or_default().to_lowercase();
    failure(1100, format!("lookup: {text}"))
}

/// No address of a kind that can be connected to.
pub(crate) fn no_address() -> Failure {
    failure(1101, "lookup: no such host")
}

/// Connecting took longer than the dialer waits.
pub(crate) fn dial_timeout() -> Failure {
    failure(1211, "dial: i/o timeout")
}

/// The host must not be loaded.
pub(crate) fn refused() -> Failure {
    failure(1111, "hostname is blocked")
}

/// The address is one that the plan blocks.
pub(crate) fn blocked_address() -> Failure {
    failure(1110, "ip is blacklisted")
}

/// TCP could not connect.
pub(crate) fn dial(error: &io::Error) -> Failure {
    const EMFILE: i32 = 24;
    const ENFILE: i32 = 23;
    match error.kind() {
        io::ErrorKind::ConnectionRefused => failure(1212, "dial: connection refused"),
        io::ErrorKind::TimedOut => dial_timeout(),
        io::ErrorKind::ConnectionReset => failure(1220, "dial: connection reset by peer"),
        io::ErrorKind::AddrNotAvailable => failure(1210, "dial: this machine has no free local port left"),
        _ if matches!(error.raw_os_error(), Some(EMFILE | ENFILE)) => {
            failure(1210, "dial: this machine's limit of open files is reached")
        }
        _ => failure(1210, format!("dial: {}", words(error))),
    }
}

/// TLS could not be agreed on.
pub(crate) fn handshake(error: &io::Error) -> Failure {
    use rustls::{CertificateError, Error as Tls, InvalidMessage};
    let Some(tls) = error.get_ref().and_then(|inner| inner.downcast_ref::<Tls>()) else {
        return match error.kind() {
            io::ErrorKind::UnexpectedEof => other("EOF"),
            _ => transport(error),
        };
    };
    match tls {
        Tls::InvalidMessage(InvalidMessage::InvalidContentType | InvalidMessage::UnknownProtocolVersion) => {
            failure(1301, "tls: first record does not look like a TLS handshake")
        }
        Tls::InvalidCertificate(CertificateError::UnknownIssuer) => failure(1310, "x509: unknown authority"),
        Tls::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => failure(1311, "x509: certificate doesn't match hostname"),
        other => failure(1300, format!("tls: {other}")),
    }
}

/// Reading or writing failed.
fn transport(error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::ConnectionReset => failure(1220, "read: connection reset by peer"),
        io::ErrorKind::BrokenPipe => failure(1201, "write: broken pipe"),
        io::ErrorKind::UnexpectedEof => other("unexpected EOF"),
        io::ErrorKind::TimedOut => failure(1200, "read: connection timed out"),
        _ if error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>()) => handshake(error),
        // The HTTP machinery's way to say that the parts of a body do not fit together.
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            other(format!("malformed chunked encoding: {}", words(error)))
        }
        _ => failure(1200, words(error)),
    }
}

/// The body could not be unpacked.
pub(crate) fn unpacking(unpacking: &Unpacking) -> Failure {
    let Unpacking { coding, error } = unpacking;
    if error.kind() == io::ErrorKind::UnexpectedEof {
        return other("unexpected EOF");
    }
    failure(1701, format!("error decompressing response body ({}: {error})", coding.name()))
}

/// The exchange on a connection failed; `answer_begun` says whether a byte of the answer had come.
pub(crate) fn exchange(error: &hyper::Error, answer_begun: bool) -> Failure {
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(error) = cause.downcast_ref::<io::Error>() {
            return transport(error);
        }
        source = cause.source();
    }
    if error.is_incomplete_message() || error.is_canceled() || error.is_closed() {
        other(if answer_begun { "unexpected EOF" } else { "EOF" })
    } else if error.to_string().contains("message head is too large") {
        // hyper tells this apart by a method of its server half only.
        let [headers, kilobytes] = [super::connection::HEADERS_MAX, super::connection::HEAD_BYTES_MAX / 1024];
        other(format!("malformed HTTP response: its head has more than {headers} headers or {kilobytes} kB"))
    } else if error.is_parse() {
        other(format!("malformed HTTP response: {error}"))
    } else {
        other(error.to_string())
    }
}

/// The system's text without its number.
fn words(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_this_machine_are_named() {
        let check = |errno: i32| dial(&io::Error::from_raw_os_error(errno));
        assert_eq!(check(24), failure(1210, "dial: this machine's limit of open files is reached"));
        assert_eq!(check(99), failure(1210, "dial: this machine has no free local port left"));
        assert_eq!(check(111), failure(1212, "dial: connection refused"));
        assert_eq!(check(110), failure(1211, "dial: i/o timeout"));
        assert_eq!(check(113), failure(1210, "dial: no route to host"));
    }

    #[test]
    fn names_that_do_not_exist_and_resolvers_that_fail_differ() {
        let prefix = "failed to lookup address information: ";
        let check = |text: &str| lookup(&io::Error::other(format!("{prefix}{text}")));
        assert_eq!(check("Name or service not known"), failure(1101, "lookup: no such host"));
        assert_eq!(
            check("Temporary failure in name resolution"),
            failure(1100, "lookup: temporary failure in name resolution")
        );
    }
}
