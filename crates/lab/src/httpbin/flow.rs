//! Endpoints about how an answer comes: `/status`, `/bytes`, `/stream`, `/stream-bytes`, `/drip`, `/delay`, `/range`,
//! `/cache`, `/etag`. Must never hold an answer in memory that the client could ask to be endless.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, Request};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{any, get};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::sleep;

/// Most bytes, lines and seconds that an answer may be asked to have.
const BYTES_MAX: usize = 16 * 1024 * 1024;
const LINES_MAX: usize = 1000;
const DELAY_MAX: Duration = Duration::from_secs(70);

pub(super) fn routes() -> Router {
    Router::new()
        .route("/status/{code}", any(status))
        .route("/bytes/{count}", get(async |Path(count): Path<usize>| binary(Body::from(pattern(count)))))
        .route("/stream-bytes/{count}", get(stream_bytes))
        .route("/stream/{lines}", get(stream))
        .route("/drip", get(drip))
        .route("/delay/{seconds}", any(delay))
        .route("/cache", get(cache))
        .route("/etag/{tag}", get(etag))
}

async fn status(Path(code): Path<u16>) -> Response {
    let Some(status) = StatusCode::from_u16(code).ok().filter(|status| !status.is_informational()) else {
        return (StatusCode::BAD_REQUEST, "no such status").into_response();
    };
    match code {
        301 | 302 | 303 | 307 | 308 => {
            let mut response = Redirect::temporary("/get").into_response();
            *response.status_mut() = status;
            response
        }
        _ => status.into_response(),
    }
}

/// Bytes that depend on nothing but their place.
fn pattern(count: usize) -> Bytes {
    (0..count.min(BYTES_MAX)).map(|place| ((place * 31 + 7) % 256) as u8).collect()
}

fn binary(body: Body) -> Response {
    ([(header::CONTENT_TYPE, "application/octet-stream")], body).into_response()
}

/// A body whose pieces a task sends; it has no length, so HTTP/1.1 sends it in chunks.
fn pieces<F>(task: impl FnOnce(mpsc::Sender<Bytes>) -> F) -> Body
where
    F: Future<Output = ()> + Send + 'static,
{
    let (send, mut receive) = mpsc::channel::<Bytes>(1);
    tokio::spawn(task(send));
    Body::from_stream(futures_util::stream::poll_fn(move |context| {
        receive.poll_recv(context).map(|piece| piece.map(Ok::<_, std::convert::Infallible>))
    }))
}

async fn stream_bytes(Path(count): Path<usize>) -> Response {
    binary(pieces(async move |send| {
        for piece in pattern(count).chunks(1000) {
            if send.send(Bytes::copy_from_slice(piece)).await.is_err() {
                return;
            }
        }
    }))
}

async fn stream(Path(lines): Path<usize>) -> Response {
    let body = pieces(async move |send| {
        for id in 0..lines.min(LINES_MAX) {
            if send.send(Bytes::from(format!("{{\"id\":{id}}}\n"))).await.is_err() {
                return;
            }
        }
    });
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// What `/drip` is asked for, all optional.
#[derive(Debug, Deserialize)]
#[serde(default)]
struct Drip {
    duration: f64,
    numbytes: usize,
    code: u16,
    delay: f64,
}

impl Default for Drip {
    fn default() -> Self {
        Self { duration: 0.2, numbytes: 10, code: 200, delay: 0.0 }
    }
}

async fn drip(Query(asked): Query<Drip>) -> Response {
    sleep(seconds(asked.delay)).await;
    let count = asked.numbytes.clamp(1, LINES_MAX);
    let pause = seconds(asked.duration) / u32::try_from(count).unwrap_or(u32::MAX);
    let body = pieces(async move |send| {
        for _ in 0..count {
            sleep(pause).await;
            if send.send(Bytes::from_static(b"*")).await.is_err() {
                return;
            }
        }
    });
    let status = StatusCode::from_u16(asked.code).unwrap_or(StatusCode::OK);
    (status, [(header::CONTENT_LENGTH, count.to_string())], body).into_response()
}

fn seconds(number: f64) -> Duration {
    Duration::try_from_secs_f64(number).unwrap_or_default().min(DELAY_MAX)
}

async fn delay(Path(number): Path<f64>, request: Request) -> Response {
    sleep(seconds(number)).await;
    Json(json!({ "method": request.method().as_str(), "delay": number })).into_response()
}

async fn cache(headers: HeaderMap) -> Response {
    let known = [header::IF_MODIFIED_SINCE, header::IF_NONE_MATCH].iter().any(|name| headers.contains_key(name));
    if known { StatusCode::NOT_MODIFIED.into_response() } else { Json(json!({ "cache": "fresh" })).into_response() }
}

async fn etag(Path(tag): Path<String>, headers: HeaderMap) -> Response {
    let quoted = format!("\"{tag}\"");
    let is_known = headers.get(header::IF_NONE_MATCH).is_some_and(|value| value.as_bytes() == quoted.as_bytes());
    let status = if is_known { StatusCode::NOT_MODIFIED } else { StatusCode::OK };
    (status, [(header::ETAG, quoted)]).into_response()
}
