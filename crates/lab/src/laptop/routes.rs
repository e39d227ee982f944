//! The endpoints of the laptop story's two services. Must never hold a lock across requests or keep anything of a
//! request that is over.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde::{Deserialize, Serialize};

use super::age::age_years;
use crate::cache::Cache;
use crate::metrics::{Metrics, Route};
use crate::store::{KEYS, Store};
use crate::{clock, os, out};

/// The running services' state.
#[derive(Debug)]
pub struct Service {
    /// The table of UUIDs; without it `/uuid` answers 503.
    pub store: Option<Store>,
    /// In front of the table.
    pub cache: Option<Cache>,
    /// CPU time that each `/age` burns.
    pub spin: Duration,
    /// Time that each `/age` waits.
    pub floor: Duration,
    /// Ends each connection after one answer.
    pub close: bool,
    /// Counters.
    pub metrics: Metrics,
    /// Limits the log of failures to one line a second.
    pub log_gate: LogGate,
}

/// Lets one event a second through.
#[derive(Debug)]
pub struct LogGate {
    start: Instant,
    next_ms: AtomicU64,
}

#[derive(Debug, Deserialize)]
struct AgeQuery {
    birthdate: Option<String>,
}

#[derive(Debug, Serialize)]
struct AgeAnswer {
    birthdate: String,
    age: i16,
}

#[derive(Debug, Serialize)]
struct UuidAnswer {
    key: i32,
    uuid: String,
}

#[derive(Debug, Serialize)]
struct Refusal {
    error: String,
}

/// A failed request: the status and the sentence.
type Failed = (StatusCode, String);

/// The router of both services.
pub fn router(service: Arc<Service>) -> Router {
    let router = Router::new()
        .route(Route::Age.template(), get(age))
        .route(Route::Uuid.template(), get(uuid))
        .route(Route::Healthz.template(), get(healthz))
        .route(Route::Metrics.template(), get(metrics))
        .fallback(not_found)
        .method_not_allowed_fallback(not_allowed);
    let router = if service.close { router.layer(axum::middleware::map_response(closing)) } else { router };
    router.with_state(service)
}

async fn age(State(service): State<Arc<Service>>, query: Result<Query<AgeQuery>, QueryRejection>) -> Response {
    let start = clock::now();
    let answer = service.age(query).await;
    service.answer(Route::Age, start, answer.map(Json))
}

async fn uuid(State(service): State<Arc<Service>>, key: Result<Path<String>, PathRejection>) -> Response {
    let start = clock::now();
    let answer = service.uuid(key).await;
    service.answer(Route::Uuid, start, answer.map(Json))
}

async fn healthz(State(service): State<Arc<Service>>) -> Response {
    service.answer(Route::Healthz, clock::now(), Ok("ok\n"))
}

async fn metrics(State(service): State<Arc<Service>>) -> Response {
    let start = clock::now();
    let text = service.metrics.render(service.store.as_ref().map(Store::pool_state));
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    service.answer(Route::Metrics, start, Ok((kind, text)))
}

async fn not_found(State(service): State<Arc<Service>>) -> Response {
    let sentence = "there is /age?birthdate=YYYY-MM-DD, /uuid/{key}, /healthz and /metrics".to_owned();
    service.answer::<()>(Route::Other, clock::now(), Err((StatusCode::NOT_FOUND, sentence)))
}

async fn not_allowed(State(service): State<Arc<Service>>) -> Response {
    let sentence = "only GET is answered here".to_owned();
    service.answer::<()>(Route::Other, clock::now(), Err((StatusCode::METHOD_NOT_ALLOWED, sentence)))
}

async fn closing(mut response: Response) -> Response {
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

impl Service {
    async fn age(&self, query: Result<Query<AgeQuery>, QueryRejection>) -> Result<AgeAnswer, Failed> {
        let bad = |sentence: String| (StatusCode::BAD_REQUEST, sentence);
        let Query(query) = query.map_err(|rejection| bad(rejection.body_text()))?;
        let birthdate =
            query.birthdate.ok_or_else(|| bad("birthdate is missing; ask for /age?birthdate=YYYY-MM-DD".to_owned()))?;
        let age = age_years(&birthdate, clock::today()).map_err(|error| bad(error.to_string()))?;
        if !self.floor.is_zero() {
            tokio::time::sleep(self.floor).await;
        }
        spin(self.spin);
        Ok(AgeAnswer { birthdate, age })
    }

    async fn uuid(&self, key: Result<Path<String>, PathRejection>) -> Result<UuidAnswer, Failed> {
        let Path(text) = key.map_err(|rejection| (StatusCode::BAD_REQUEST, rejection.body_text()))?;
        let key = parse_key(&text)?;
        let Some(store) = &self.store else {
            let sentence = "there is no database: the service was started with --no-database".to_owned();
            return Err((StatusCode::SERVICE_UNAVAILABLE, sentence));
        };
        if let Some(cache) = &self.cache
            && let Some(uuid) = cache.get(key).await
        {
            return Ok(UuidAnswer { key, uuid });
        }
        let found = store.uuid(key, &self.metrics.pool).await.map_err(|error| {
            if self.log_gate.open() {
                out::warn("database_failed", &[("key", &key), ("reason", &error)]);
            }
            (StatusCode::SERVICE_UNAVAILABLE, error.to_string())
        })?;
        let uuid = found.ok_or_else(|| no_such_key(&text))?;
        if let Some(cache) = &self.cache {
            cache.put(key, &uuid).await;
        }
        Ok(UuidAnswer { key, uuid })
    }

    fn answer<T: IntoResponse>(&self, route: Route, start: Instant, answer: Result<T, Failed>) -> Response {
        let response = match answer {
            Ok(answer) => answer.into_response(),
            Err((status, error)) => (status, Json(Refusal { error })).into_response(),
        };
        self.metrics.answered(route, response.status().as_u16(), clock::now() - start);
        response
    }
}

impl LogGate {
    /// A gate that lets the first event through.
    pub fn new() -> Self {
        Self { start: clock::now(), next_ms: AtomicU64::new(0) }
    }

    fn open(&self) -> bool {
        let now_ms = u64::try_from((clock::now() - self.start).as_millis()).unwrap_or(u64::MAX);
        let next_ms = self.next_ms.load(Ordering::Relaxed);
        let swap = |next| self.next_ms.compare_exchange(next, now_ms + 1000, Ordering::Relaxed, Ordering::Relaxed);
        now_ms >= next_ms && swap(next_ms).is_ok()
    }
}

impl Default for LogGate {
    fn default() -> Self {
        Self::new()
    }
}

/// An integer outside the range is a key that does not exist; anything else is a mistake.
fn parse_key(text: &str) -> Result<i32, Failed> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let text: String = text.chars().take(40).collect();
        return Err((StatusCode::BAD_REQUEST, format!("key '{text}' is not an integer")));
    }
    text.parse().ok().filter(|key| KEYS.contains(key)).ok_or_else(|| no_such_key(text))
}

fn no_such_key(text: &str) -> Failed {
    let text: String = text.chars().take(40).collect();
    (StatusCode::NOT_FOUND, format!("there is no key {text}; keys are {} to {}", KEYS.start(), KEYS.end()))
}

/// Burns CPU time of this thread – not wall time, so that it costs the same however crowded the cores are.
fn spin(duration: Duration) {
    if duration.is_zero() {
        return;
    }
    let start = os::thread_cpu_time();
    while os::thread_cpu_time() - start < duration {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_integers_from_one_to_a_thousand() {
        assert_eq!(["1", "17", "1000", "0017"].map(|text| parse_key(text).ok()), [1, 17, 1000, 17].map(Some));
        for (text, status) in [
            ("0", 404),
            ("1001", 404),
            ("-5", 404),
            ("99999999999999999999", 404),
            ("x", 400),
            ("-", 400),
            ("+5", 400),
            ("1.5", 400),
            ("1 ", 400),
        ] {
            assert_eq!(parse_key(text).unwrap_err().0.as_u16(), status, "{text}");
        }
    }

    #[test]
    fn the_log_gate_lets_one_of_many_through() {
        let gate = LogGate::new();
        assert!(gate.open());
        assert!(!gate.open());
    }

    #[test]
    fn spinning_uses_the_cpu_time_asked_for() {
        let before = os::thread_cpu_time();
        spin(Duration::from_millis(3));
        assert!(os::thread_cpu_time() - before >= Duration::from_millis(3));
    }
}
