//! Why a request failed, in k6's codes and words. What is the fault of this machine says so in words of our own.

use std::io;

use super::http1::answer::Fault;
use super::target::Origin;
use crate::coding::Unpacking;
use crate::user::Failure;

/// HTTP/2 ended a stream or a connection with this code.
pub(crate) fn http2(base: u32, what: &str, code: u32) -> Failure {
    const NAMES: [&str; 14] = [
        "NO_ERROR",
        "PROTOCOL_ERROR",
        "INTERNAL_ERROR",
        "FLOW_CONTROL_ERROR",
        "SETTINGS_TIMEOUT",
        "STREAM_CLOSED",
        "FRAME_SIZE_ERROR",
        "REFUSED_STREAM",
        "CANCEL",
        "COMPRESSION_ERROR",
        "CONNECT_ERROR",
        "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY",
        "HTTP_1_1_REQUIRED",
    ];
    match NAMES.get(code as usize) {
        Some(name) => failure(base + code + 1, format!("http2: {what} with http2 ErrCode {name}")),
        None => failure(base, format!("http2: {what} with http2 ErrCode unknown error code 0x{code:x}")),
    }
}

/// The proxy at this place could not be connected to: in k6's words, which name it.
pub(crate) fn proxy_dial(cause: &Failure, origin: &Origin) -> Failure {
    let place = format!("{}:{}", origin.host, origin.port);
    let text = match cause.text.strip_prefix("dial: ") {
        Some("i/o timeout") => format!("dial tcp {place}: i/o timeout"),
        Some(what) => format!("dial tcp {place}: connect: {what}"),
        None => format!("{place}: {}", cause.text),
    };
    failure(1200, format!("proxyconnect tcp: {text}"))
}

/// The proxy broke off.
pub(crate) fn by_proxy(mut cause: Failure) -> Failure {
    cause.text.insert_str(0, "proxy: ");
    cause
}

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
        Tls::AlertReceived(received) => alert(&format!("{received:?}")),
        other => failure(1300, format!("tls: {other}")),
    }
}

/// An alert of the other side, in Go's words; `name` is that of rustls.
fn alert(name: &str) -> Failure {
    let words = match name {
        "UnknownCA" => "unknown certificate authority".to_owned(),
        "ProtocolVersion" => "protocol version not supported".to_owned(),
        "CertificateUnknown" => "unknown certificate".to_owned(),
        "CertificateRevoked" => "revoked certificate".to_owned(),
        "CertificateExpired" => "expired certificate".to_owned(),
        "DecodeError" => "error decoding message".to_owned(),
        "DecryptError" => "error decrypting message".to_owned(),
        "BadRecordMac" => "bad record MAC".to_owned(),
        other => {
            // `HandshakeFailure` becomes `handshake failure`.
            let spaced = other.chars().flat_map(|c| c.is_uppercase().then_some(' ').into_iter().chain([c]));
            spaced.collect::<String>().trim_start().to_lowercase()
        }
    };
    failure(1010, format!("remote error: tls: {words}"))
}

/// Reading or writing failed.
pub(crate) fn transport(error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::ConnectionReset => failure(1220, "read: connection reset by peer"),
        io::ErrorKind::BrokenPipe => failure(1201, "write: broken pipe"),
        io::ErrorKind::UnexpectedEof => other("unexpected EOF"),
        io::ErrorKind::TimedOut => failure(1200, "read: connection timed out"),
        _ if error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>()) => handshake(error),
        // Through HTTP/2 only the text of an error of TLS arrives.
        _ => match error.to_string().strip_prefix("received fatal alert: ") {
            Some(name) => alert(name),
            None => failure(1200, words(error)),
        },
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
pub(crate) fn exchange(fault: &Fault, answer_begun: bool) -> Failure {
    match fault {
        Fault::Read(error) => transport(error),
        Fault::Write(error) if error.kind() == io::ErrorKind::ConnectionReset => {
            failure(1220, "write: connection reset by peer")
        }
        Fault::Write(error) => transport(error),
        Fault::Ended => other(if answer_begun { "unexpected EOF" } else { "EOF" }),
        Fault::Malformed(text) => other(text.as_str()),
        Fault::TooLarge(bytes) => other(format!(
            "the bodies of answers that are being received take more than {} MiB of memory: discard those that the \
             script does not look at (discardResponseBodies)",
            bytes >> 20
        )),
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
    fn alerts_of_the_other_side_have_the_words_of_go() {
        let check = |alert| handshake(&io::Error::other(rustls::Error::AlertReceived(alert)));
        let said = |text: &str| failure(1010, format!("remote error: tls: {text}"));
        assert_eq!(check(rustls::AlertDescription::CertificateRequired), said("certificate required"));
        assert_eq!(check(rustls::AlertDescription::HandshakeFailure), said("handshake failure"));
        assert_eq!(check(rustls::AlertDescription::UnknownCA), said("unknown certificate authority"));
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
