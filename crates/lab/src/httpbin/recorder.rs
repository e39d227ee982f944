//! What the service was asked, in order: everything of a request that a client decides. Must never record what the
//! service answers, nor change what a request says.

use std::sync::{Arc, Mutex, PoisonError};

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use md5::{Digest, Md5};
use serde_json::{Value, json};

use super::{Peer, multipart};

/// Most entries that are kept.
const ENTRIES_MAX: usize = 100_000;
/// Longest body that is recorded as text; of longer ones only length and digest are.
const TEXT_BYTES_MAX: usize = 2000;
/// Longest body that is taken at all.
const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The record, shared by all connections.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recorder {
    entries: Arc<Mutex<Vec<Value>>>,
}

impl Recorder {
    /// Adds an entry, unless there are too many already.
    pub(crate) fn add(&self, entry: Value) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() < ENTRIES_MAX {
            entries.push(entry);
        }
    }

    fn all(&self) -> Vec<Value> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn clear(&self) {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// `/__log`: GET gives the record, DELETE empties it. Not recorded themselves.
pub(super) fn routes(recorder: Recorder) -> Router {
    let read = async |State(recorder): State<Recorder>| Json(recorder.all());
    let clear = async |State(recorder): State<Recorder>| {
        recorder.clear();
        Json(json!({ "cleared": true }))
    };
    Router::new().route("/__log", get(read).delete(clear)).with_state(recorder)
}

/// Records a request on its way to its endpoint.
pub(super) async fn record(
    State(recorder): State<Recorder>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    request: Request,
    next: Next,
) -> Response {
    let (mut head, body) = request.into_parts();
    let Ok(body) = to_bytes(body, BODY_BYTES_MAX).await else {
        return (StatusCode::BAD_REQUEST, "the body could not be read").into_response();
    };
    recorder.add(json!({
        "connection": peer.address.port(),
        "tls": peer.is_tls,
        "version": format!("{:?}", head.version),
        "method": head.method.as_str(),
        "path": head.uri.path_and_query().map_or("/", |path| path.as_str()),
        "headers": headers(&head.headers),
        "body": shown(&head.headers, &body),
    }));
    head.extensions.insert(peer);
    next.run(Request::from_parts(head, Body::from(body))).await
}

/// All headers by lower-case name, sorted; the values of one name stay in order.
fn headers(headers: &HeaderMap) -> Value {
    let mut all: Vec<(String, String)> = headers
        .iter()
        .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
        .collect();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    json!(all)
}

/// A body as a reader of the record wants it: text, the parts of a form, or length and digest.
fn shown(headers: &HeaderMap, body: &Bytes) -> Value {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if let Some(mut parts) = multipart::parse(kind, body) {
        // Clients may send the fields of a form in any order.
        parts.sort_by(|one, other| (&one.name, &one.file).cmp(&(&other.name, &other.file)));
        let part = |part: multipart::Part| json!({ "name": part.name, "file": part.file, "type": part.kind, "body": plain(&part.body) });
        return parts.into_iter().map(part).collect();
    }
    plain(body)
}

fn plain(body: &[u8]) -> Value {
    match std::str::from_utf8(body) {
        Ok(text) if text.len() <= TEXT_BYTES_MAX => text.into(),
        _ => json!({ "bytes": body.len(), "md5": hex(&Md5::digest(body)) }),
    }
}

/// Bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
