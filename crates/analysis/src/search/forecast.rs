//! The memory forecast: after how many users the service reaches the limit of its control group. Knowing it without
//! killing the service is the point.

use model::record::RunRecord;
use model::series::Role;
use model::signal;
use model::verdict::Phase;

use crate::phrase;
use crate::stats::trend;

/// The share of the limit that is still safe.
const SAFE: f64 = 0.9;
/// Growth over the lightest step below this share of the limit is noise, not a slope.
const GROWTH_MIN: f64 = 0.05;

/// Where the service's memory would reach its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Forecast {
    /// Bytes per request in flight.
    pub(crate) per_request_bytes: f64,
    /// Bytes without load.
    pub(crate) base_bytes: f64,
    /// The limit.
    pub(crate) limit_bytes: f64,
    /// The most users that stay below 90 % of it.
    pub(crate) safe_users: u64,
}

/// Fits anonymous memory = base + m · requests in flight over the steps (Theil–Sen); `None` without a limit, without
/// two different loads, or if memory does not grow with load by at least 5 % of the limit.
///
/// On anonymous memory, since a control group's own figure counts the page cache too. Not true for a service that
/// grows with the number of requests served (a leak) or that collects garbage only near its limit.
pub(crate) fn forecast(record: &RunRecord) -> Option<Forecast> {
    let service = &record.subjects.iter().find(|subject| subject.role == Role::Service)?.id;
    let memory = record.series(service, signal::MEMORY_ANON.name)?;
    let limit_bytes = record.series(service, signal::CGROUP_MEMORY_LIMIT.name)?.points.last()?.value;
    let loads = record.steps.iter().filter(|step| step.phase != Phase::Return);
    // Users bound the requests in flight, and are what the search can choose.
    let points: Vec<_> = loads.filter_map(|step| Some((step.users as f64, memory.max(step.whole)?))).collect();
    let per_request_bytes = trend::slope(&points).filter(|slope| *slope > 0.0)?;
    let base_bytes = trend::median(points.iter().map(|(users, bytes)| bytes - per_request_bytes * users).collect())?;
    let users_seen = points.iter().map(|point| point.0).fold(0.0, f64::max);
    if per_request_bytes * users_seen < GROWTH_MIN * limit_bytes {
        return None;
    }
    let safe_users = ((SAFE * limit_bytes - base_bytes) / per_request_bytes).max(0.0) as u64;
    Some(Forecast { per_request_bytes, base_bytes, limit_bytes, safe_users })
}

impl Forecast {
    /// The forecast as a sentence.
    pub(crate) fn warning(&self) -> String {
        format!(
            "the search stopped short of killing the service: each user under way holds {} of its memory, so with more \
             than {} it reaches its limit of {} (--allow-crash goes on)",
            phrase::bytes(self.per_request_bytes),
            phrase::users(self.safe_users),
            phrase::bytes(self.limit_bytes)
        )
    }
}
