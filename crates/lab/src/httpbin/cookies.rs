//! Endpoints that show, set and delete cookies. Must never remember one: the client does.

use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Map, Value, json};

use super::redirects;

pub(super) fn routes() -> Router {
    Router::new()
        .route("/cookies", get(show))
        .route("/cookies/set", get(async |uri: Uri| redirected(&uri, "")))
        .route("/cookies/set-only", get(set_only))
        .route("/cookies/set-raw", get(set_raw))
        .route(
            "/cookies/delete",
            get(async |uri: Uri| redirected(&uri, "; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT")),
        )
        .route("/cookies/below/show", get(show))
}

async fn show(headers: HeaderMap) -> Json<Value> {
    let mut all = Map::new();
    for line in headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok()) {
        for (name, value) in line.split("; ").filter_map(|one| one.split_once('=')) {
            all.insert(name.to_owned(), value.into());
        }
    }
    all.sort_keys();
    Json(json!({ "cookies": all }))
}

fn with_cookies(mut response: Response, uri: &Uri, attributes: &str) -> Response {
    for (name, value) in url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()) {
        if let Ok(line) = HeaderValue::try_from(format!("{name}={value}; Path=/{attributes}")) {
            response.headers_mut().append(header::SET_COOKIE, line);
        }
    }
    response
}

/// Sets or deletes what the query names and leads to what is there then.
fn redirected(uri: &Uri, attributes: &str) -> Response {
    with_cookies(redirects::to(StatusCode::FOUND, "/cookies"), uri, attributes)
}

async fn set_only(uri: Uri) -> Response {
    with_cookies(Json(json!({ "set": true })).into_response(), &uri, "")
}

/// Each `line` of the query is a whole Set-Cookie header.
async fn set_raw(uri: Uri) -> Response {
    let mut response = Json(json!({ "set": true })).into_response();
    for (name, value) in url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()) {
        if let ("line", Ok(line)) = (name.as_ref(), HeaderValue::try_from(value.as_ref())) {
            response.headers_mut().append(header::SET_COOKIE, line);
        }
    }
    response
}
