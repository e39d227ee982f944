//! Endpoints that lead elsewhere. Must never lead anywhere but where the request says.

use axum::Router;
use axum::extract::{Path, Query, Request};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use serde::Deserialize;

use super::echo;

pub(super) fn routes() -> Router {
    Router::new()
        .route("/redirect/{hops}", any(relative))
        .route("/relative-redirect/{hops}", any(relative))
        .route("/absolute-redirect/{hops}", any(absolute))
        .route("/redirect-to", any(elsewhere))
}

async fn relative(Path(hops): Path<u32>) -> Response {
    to(StatusCode::FOUND, &if hops <= 1 { "/get".to_owned() } else { format!("/relative-redirect/{}", hops - 1) })
}

async fn absolute(Path(hops): Path<u32>, request: Request) -> Response {
    let (head, _) = request.into_parts();
    let here = echo::url(&head);
    let root = here.split("/absolute-redirect").next().unwrap_or_default();
    to(
        StatusCode::FOUND,
        &if hops <= 1 { format!("{root}/get") } else { format!("{root}/absolute-redirect/{}", hops - 1) },
    )
}

/// Where `/redirect-to` leads, and how.
#[derive(Debug, Deserialize)]
struct Elsewhere {
    url: String,
    status_code: Option<u16>,
}

async fn elsewhere(Query(asked): Query<Elsewhere>) -> Response {
    let status = asked.status_code.and_then(|code| StatusCode::from_u16(code).ok());
    to(status.unwrap_or(StatusCode::FOUND), &asked.url)
}

/// An answer that leads to this place.
pub(super) fn to(status: StatusCode, place: &str) -> Response {
    (status, [(header::LOCATION, place)]).into_response()
}
