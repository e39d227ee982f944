//! Statuses and metadata of gRPC, as they are in headers: names end in `-bin` where values are bytes.

use bytes::Bytes;
use h2::Reason;
use http::{HeaderMap, StatusCode};
use percent_encoding::percent_decode_str;

use crate::user::{GrpcStatus, Metadata};

/// The codes that are used here (<https://grpc.io/docs/guides/status-codes/>).
pub(crate) mod code {
    pub(crate) const CANCELLED: u32 = 1;
    pub(crate) const UNKNOWN: u32 = 2;
    pub(crate) const DEADLINE_EXCEEDED: u32 = 4;
    pub(crate) const PERMISSION_DENIED: u32 = 7;
    pub(crate) const RESOURCE_EXHAUSTED: u32 = 8;
    pub(crate) const UNIMPLEMENTED: u32 = 12;
    pub(crate) const INTERNAL: u32 = 13;
    pub(crate) const UNAVAILABLE: u32 = 14;
    pub(crate) const UNAUTHENTICATED: u32 = 16;
}

/// What a broken stream or connection means.
pub(super) fn of(error: &h2::Error) -> GrpcStatus {
    let code = match error.reason() {
        Some(Reason::CANCEL) => code::CANCELLED,
        Some(Reason::REFUSED_STREAM) => code::UNAVAILABLE,
        Some(Reason::ENHANCE_YOUR_CALM) => code::RESOURCE_EXHAUSTED,
        Some(Reason::INADEQUATE_SECURITY) => code::PERMISSION_DENIED,
        Some(_) if error.is_reset() => code::INTERNAL,
        _ => code::UNAVAILABLE,
    };
    GrpcStatus::new(code, format!("the connection broke: {error}"))
}

/// What a status of HTTP means, if it is none of gRPC
/// (<https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md>).
pub(super) fn of_http(status: StatusCode) -> Option<GrpcStatus> {
    let code = match status.as_u16() {
        200 => return None,
        400 => code::INTERNAL,
        401 => code::UNAUTHENTICATED,
        403 => code::PERMISSION_DENIED,
        404 => code::UNIMPLEMENTED,
        429 | 502..=504 => code::UNAVAILABLE,
        _ => code::UNKNOWN,
    };
    Some(GrpcStatus::new(code, format!("unexpected HTTP status code received from server: {status}")))
}

/// The status at the end of a call.
pub(super) fn of_trailers(trailers: &HeaderMap) -> GrpcStatus {
    let text = |name: &str| trailers.get(name).and_then(|value| value.to_str().ok());
    let Some(code) = text("grpc-status").and_then(|code| code.parse().ok()) else {
        return GrpcStatus::new(code::UNKNOWN, "the server ended the call without a status");
    };
    let mut status = GrpcStatus::new(code, unescaped(text("grpc-message").unwrap_or_default()));
    status.details = text("grpc-status-details-bin").and_then(|packed| unpacked(packed.as_bytes()));
    status
}

/// Headers as scripts see them: what belongs to the protocol alone is left out.
pub(super) fn metadata(headers: &HeaderMap) -> Metadata {
    const OWN: [&str; 4] = ["grpc-status", "grpc-message", "grpc-status-details-bin", "grpc-encoding"];
    let shown = headers.iter().filter(|(name, _)| !OWN.contains(&name.as_str()));
    let pair = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
        let is_binary = name.as_str().ends_with("-bin");
        let value = Bytes::copy_from_slice(value.as_bytes());
        let value = if is_binary { unpacked(&value).unwrap_or(value) } else { value };
        (name.as_str().to_owned(), value)
    };
    shown.map(pair).collect()
}

/// Bytes in a header.
pub(super) fn packed(bytes: &[u8]) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD_NO_PAD.encode(bytes)
}

fn unpacked(text: &[u8]) -> Option<Bytes> {
    use base64::Engine;
    use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
    let either = GeneralPurposeConfig::new().with_decode_padding_mode(base64::engine::DecodePaddingMode::Indifferent);
    GeneralPurpose::new(&base64::alphabet::STANDARD, either).decode(text).ok().map(Bytes::from)
}

/// Text with `%XX` for bytes that do not fit into a header.
fn unescaped(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_read_from_trailers() {
        let mut trailers = HeaderMap::new();
        assert_eq!(of_trailers(&trailers).code, code::UNKNOWN);
        trailers.insert("grpc-status", "5".parse().unwrap());
        trailers.insert("grpc-message", "not%20found: 100%".parse().unwrap());
        trailers.insert("grpc-status-details-bin", "CAU".parse().unwrap());
        trailers.insert("why-bin", "AQI=".parse().unwrap());
        let status = of_trailers(&trailers);
        assert_eq!((status.code, status.text.as_str()), (5, "not found: 100%"));
        assert_eq!(status.details.as_deref(), Some(&[8, 5][..]));
        assert_eq!(metadata(&trailers), [("why-bin".to_owned(), Bytes::from_static(&[1, 2]))]);
    }
}
