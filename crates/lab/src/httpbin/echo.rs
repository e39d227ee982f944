//! Endpoints that say what they were asked: `/get`, `/post`, … `/anything`, `/headers`, `/ip`, `/user-agent`.
//! Must never leave out anything that the client sent.

use axum::body::Bytes;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, delete, get, patch, post, put};
use axum::{Extension, Json, Router};
use serde_json::{Map, Value, json};

use super::{Peer, multipart};

pub(super) fn routes() -> Router {
    Router::new()
        .route("/", get(async || "the service of the differential test\n"))
        .route("/get", get(echo))
        .route("/post", post(echo))
        .route("/put", put(echo))
        .route("/patch", patch(echo))
        .route("/delete", delete(echo))
        .route("/anything", any(echo))
        .route("/anything/{*path}", any(echo))
        .route("/headers", get(async |headers: HeaderMap| Json(json!({ "headers": shown(&headers) }))))
        .route("/ip", get(async |Extension(peer): Extension<Peer>| Json(json!({ "origin": origin(peer) }))))
        .route("/user-agent", get(user_agent))
        .route("/response-headers", any(response_headers))
}

async fn echo(request: Request) -> Json<Value> {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default();
    let mut said = json!({
        "args": pairs(head.uri.query().unwrap_or_default().as_bytes()),
        "headers": shown(&head.headers),
        "method": head.method.as_str(),
        "url": url(&head),
        "data": "", "files": {}, "form": {}, "json": null,
    });
    if let Some(peer) = head.extensions.get::<Peer>() {
        said["origin"] = origin(*peer).into();
    }
    tell_body(&mut said, &head, &body);
    Json(said)
}

fn tell_body(said: &mut Value, head: &Parts, body: &Bytes) {
    let kind = head.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if kind.starts_with("application/x-www-form-urlencoded") {
        said["form"] = pairs(body);
        return;
    }
    if let Some(parts) = multipart::parse(kind, body) {
        for part in parts {
            let place = if part.file.is_some() { "files" } else { "form" };
            said[place][part.name] = String::from_utf8_lossy(&part.body).into();
        }
        return;
    }
    said["data"] = String::from_utf8_lossy(body).into();
    said["json"] = serde_json::from_slice(body).unwrap_or_default();
}

fn origin(peer: Peer) -> String {
    peer.address.ip().to_string()
}

/// Names with one value have it, names with several a list.
fn pairs(text: &[u8]) -> Value {
    let mut all = Map::new();
    for (name, value) in url::form_urlencoded::parse(text) {
        let value = Value::from(value.into_owned());
        match all.get_mut(name.as_ref()) {
            None => drop(all.insert(name.into_owned(), value)),
            Some(Value::Array(values)) => values.push(value),
            Some(one) => *one = json!([one.take(), value]),
        }
    }
    all.sort_keys();
    all.into()
}

/// Headers with the capitals that people are used to, sorted, repeated ones joined.
fn shown(headers: &HeaderMap) -> Value {
    let mut all = Map::new();
    for name in headers.keys() {
        let values: Vec<_> =
            headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
        all.insert(capitals(name.as_str()), values.join(",").into());
    }
    all.sort_keys();
    all.into()
}

fn capitals(name: &str) -> String {
    let word = |word: &str| word[..1].to_uppercase() + &word[1..];
    name.split('-').map(|part| if part.is_empty() { String::new() } else { word(part) }).collect::<Vec<_>>().join("-")
}

/// The URL that a client means, from what it sent.
pub(super) fn url(head: &Parts) -> String {
    let is_tls = head.extensions.get::<Peer>().is_some_and(|peer| peer.is_tls);
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    format!("{}://{}{path}", if is_tls { "https" } else { "http" }, host(&head.headers, &head.uri))
}

/// The host that a request names: in HTTP/2 it stands in the URI.
pub(super) fn host(headers: &HeaderMap, uri: &Uri) -> String {
    let named = headers.get(header::HOST).and_then(|value| value.to_str().ok());
    named.or(uri.authority().map(|authority| authority.as_str())).unwrap_or("localhost").to_owned()
}

async fn user_agent(headers: HeaderMap) -> Json<Value> {
    let agent = headers.get(header::USER_AGENT).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    Json(json!({ "user-agent": agent }))
}

/// Each pair of the query becomes a header of the answer.
async fn response_headers(uri: Uri) -> Response {
    let query = uri.query().unwrap_or_default();
    let mut response = Json(pairs(query.as_bytes())).into_response();
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        if let (Ok(name), Ok(value)) = (header::HeaderName::try_from(name.as_ref()), value.parse()) {
            response.headers_mut().append(name, value);
        }
    }
    response
}
