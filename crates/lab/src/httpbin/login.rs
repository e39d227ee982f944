//! Endpoints behind a login: basic, bearer, digest. Must never let anybody in who does not say the right words.

use axum::extract::{Path, Request};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use axum::{Json, Router};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest, Md5};
use serde_json::json;

use super::recorder::hex;

/// Always the same, so that two clients can be compared.
const NONCE: &str = "dcd98b7102dd2f0e8b11d0f600bfb0c0";
const REALM: &str = "plimsoll";

pub(super) fn routes() -> Router {
    Router::new()
        .route("/basic-auth/{user}/{password}", any(basic))
        .route("/hidden-basic-auth/{user}/{password}", any(hidden_basic))
        .route("/bearer", any(bearer))
        .route("/digest-auth/{qop}/{user}/{password}", any(digest))
}

fn authorization(headers: &HeaderMap) -> &str {
    headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn welcome(user: &str) -> Response {
    Json(json!({ "authenticated": true, "user": user })).into_response()
}

fn refused(challenge: String) -> Response {
    (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, challenge)]).into_response()
}

fn is_basic(headers: &HeaderMap, user: &str, password: &str) -> bool {
    authorization(headers) == format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}

async fn basic(Path((user, password)): Path<(String, String)>, headers: HeaderMap) -> Response {
    if is_basic(&headers, &user, &password) { welcome(&user) } else { refused(format!("Basic realm=\"{REALM}\"")) }
}

async fn hidden_basic(Path((user, password)): Path<(String, String)>, headers: HeaderMap) -> Response {
    if is_basic(&headers, &user, &password) { welcome(&user) } else { StatusCode::NOT_FOUND.into_response() }
}

async fn bearer(headers: HeaderMap) -> Response {
    match authorization(&headers).strip_prefix("Bearer ") {
        Some(token) => Json(json!({ "authenticated": true, "token": token })).into_response(),
        None => refused("Bearer".to_owned()),
    }
}

/// RFC 7616 with MD5; `qop` is `auth`, or `none` for the older form without a client's nonce.
async fn digest(Path((qop, user, password)): Path<(String, String, String)>, request: Request) -> Response {
    let said = authorization(request.headers());
    let part = |name: &str| {
        let parts = said.strip_prefix("Digest ").unwrap_or_default().split(',');
        let value = parts.filter_map(|one| one.trim().split_once('=')).find(|(key, _)| *key == name);
        value.map_or("", |(_, value)| value.trim_matches('"'))
    };
    let digest = |text: String| hex(&Md5::digest(text.as_bytes()));
    let who = digest(format!("{user}:{REALM}:{password}"));
    let what = digest(format!("{}:{}", request.method(), part("uri")));
    let wanted = if qop == "auth" {
        digest(format!("{who}:{NONCE}:{}:{}:auth:{what}", part("nc"), part("cnonce")))
    } else {
        digest(format!("{who}:{NONCE}:{what}"))
    };
    if part("response") == wanted && part("username") == user && part("nonce") == NONCE {
        return welcome(&user);
    }
    let qop = if qop == "auth" { "qop=\"auth\", " } else { "" };
    refused(format!(
        "Digest realm=\"{REALM}\", {qop}nonce=\"{NONCE}\", opaque=\"5ccc069c403ebaf9f0171e9517f40e41\", algorithm=MD5"
    ))
}
