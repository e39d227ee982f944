//! What the service counts about itself, and its Prometheus text. One atomic addition or two per request, no lock,
//! a fixed set of series. Must never grow with what clients send.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds of the latency buckets, in seconds: those that OpenTelemetry advises for HTTP servers.
const BOUNDS_S: [f64; 14] = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0];
const STATUSES: [u16; 6] = [200, 400, 404, 405, 500, 503];

/// A route template; requests are counted by template, never by path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// `/age`
    Age,
    /// `/uuid/{key}`
    Uuid,
    /// `/healthz`
    Healthz,
    /// `/metrics`
    Metrics,
    /// Whatever else was asked for.
    Other,
}

impl Route {
    const ALL: [Route; 5] = [Route::Age, Route::Uuid, Route::Healthz, Route::Metrics, Route::Other];

    /// The template as the router knows it.
    pub const fn template(self) -> &'static str {
        match self {
            Route::Age => "/age",
            Route::Uuid => "/uuid/{key}",
            Route::Healthz => "/healthz",
            Route::Metrics => "/metrics",
            Route::Other => "other",
        }
    }
}

/// All counters of one service.
#[derive(Debug, Default)]
pub struct Metrics {
    requests: [[Latencies; STATUSES.len()]; Route::ALL.len()],
    /// Counters of the database connection pool.
    pub pool: PoolTimes,
}

/// How long requests waited for a connection, and how long they then kept it.
#[derive(Debug, Default)]
pub struct PoolTimes {
    /// From asking for a connection to having one.
    pub wait: Total,
    /// From having a connection to giving it back.
    pub held: Total,
    /// Requests that gave up waiting.
    pub timeouts: AtomicU64,
}

/// A count and the sum of durations.
#[derive(Debug, Default)]
pub struct Total {
    count: AtomicU64,
    sum_ns: AtomicU64,
}

/// The pool's present state, as the pool itself tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolState {
    /// Connections that requests hold.
    pub used: usize,
    /// Connections that wait for a request.
    pub idle: usize,
    /// The pool's size limit.
    pub max: usize,
    /// Requests that wait for a connection.
    pub pending: usize,
}

#[derive(Debug, Default)]
struct Latencies {
    buckets: [AtomicU64; BOUNDS_S.len() + 1],
    sum_ns: AtomicU64,
}

impl Total {
    /// Adds one duration.
    pub fn add(&self, duration: Duration) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.sum_ns.fetch_add(nanos(duration), Ordering::Relaxed);
    }
}

impl Metrics {
    /// Counts one answered request.
    pub fn answered(&self, route: Route, status: u16, took: Duration) {
        let status = STATUSES.iter().position(|known| *known == status).unwrap_or(STATUSES.len() - 2);
        let latencies = &self.requests[route as usize][status];
        let seconds = took.as_secs_f64();
        let bucket = BOUNDS_S.iter().position(|bound| seconds <= *bound).unwrap_or(BOUNDS_S.len());
        latencies.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        latencies.sum_ns.fetch_add(nanos(took), Ordering::Relaxed);
    }

    /// The text that Prometheus reads; pool series only when there is a pool.
    pub fn render(&self, pool: Option<PoolState>) -> String {
        let mut text = String::with_capacity(8 * 1024);
        // Writing into a String cannot fail.
        let _ = self.render_requests(&mut text);
        if let Some(state) = pool {
            let _ = self.pool.render(&mut text, state);
        }
        text
    }

    fn render_requests(&self, text: &mut String) -> std::fmt::Result {
        let name = "http_server_request_duration_seconds";
        head(text, name, "histogram", "Duration of HTTP server requests, by route template and status.")?;
        for route in Route::ALL {
            for (status, latencies) in STATUSES.iter().zip(&self.requests[route as usize]) {
                let labels = format!("http_route=\"{}\",http_response_status_code=\"{status}\"", route.template());
                latencies.render(text, name, &labels)?;
            }
        }
        Ok(())
    }
}

impl Latencies {
    fn render(&self, text: &mut String, name: &str, labels: &str) -> std::fmt::Result {
        let counts = self.buckets.each_ref().map(|bucket| bucket.load(Ordering::Relaxed));
        let total: u64 = counts.iter().sum();
        if total == 0 {
            return Ok(());
        }
        let mut so_far = 0;
        for (count, bound) in counts.iter().zip(BOUNDS_S) {
            so_far += count;
            writeln!(text, "{name}_bucket{{{labels},le=\"{bound}\"}} {so_far}")?;
        }
        writeln!(text, "{name}_bucket{{{labels},le=\"+Inf\"}} {total}")?;
        writeln!(text, "{name}_count{{{labels}}} {total}")?;
        writeln!(text, "{name}_sum{{{labels}}} {}", seconds(&self.sum_ns))
    }
}

impl PoolTimes {
    fn render(&self, text: &mut String, state: PoolState) -> std::fmt::Result {
        let prefix = "db_client_connection";
        head(text, &format!("{prefix}_count"), "gauge", "Connections of the pool, by state.")?;
        writeln!(text, "{prefix}_count{{state=\"used\"}} {}", state.used)?;
        writeln!(text, "{prefix}_count{{state=\"idle\"}} {}", state.idle)?;
        head(text, &format!("{prefix}_max"), "gauge", "Most connections that the pool may open.")?;
        writeln!(text, "{prefix}_max {}", state.max)?;
        head(text, &format!("{prefix}_pending_requests"), "gauge", "Requests that wait for a connection.")?;
        writeln!(text, "{prefix}_pending_requests {}", state.pending)?;
        head(text, &format!("{prefix}_timeouts_total"), "counter", "Requests that gave up waiting for a connection.")?;
        writeln!(text, "{prefix}_timeouts_total {}", self.timeouts.load(Ordering::Relaxed))?;
        self.wait.render(
            text,
            &format!("{prefix}_wait_time_seconds"),
            "Time from asking for a connection to having it.",
        )?;
        self.held.render(text, &format!("{prefix}_use_time_seconds"), "Time from having a connection to returning it.")
    }
}

impl Total {
    fn render(&self, text: &mut String, name: &str, help: &str) -> std::fmt::Result {
        head(text, name, "summary", help)?;
        writeln!(text, "{name}_count {}", self.count.load(Ordering::Relaxed))?;
        writeln!(text, "{name}_sum {}", seconds(&self.sum_ns))
    }
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) -> std::fmt::Result {
    writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}")
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn seconds(sum_ns: &AtomicU64) -> f64 {
    Duration::from_nanos(sum_ns.load(Ordering::Relaxed)).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_template_and_status() {
        let metrics = Metrics::default();
        metrics.answered(Route::Uuid, 200, Duration::from_millis(5));
        metrics.answered(Route::Uuid, 200, Duration::from_millis(60));
        metrics.answered(Route::Uuid, 503, Duration::from_secs(11));
        let text = metrics.render(None);
        let labels = "http_route=\"/uuid/{key}\",http_response_status_code";
        for line in [
            format!("http_server_request_duration_seconds_bucket{{{labels}=\"200\",le=\"0.005\"}} 1"),
            format!("http_server_request_duration_seconds_bucket{{{labels}=\"200\",le=\"0.075\"}} 2"),
            format!("http_server_request_duration_seconds_count{{{labels}=\"200\"}} 2"),
            format!("http_server_request_duration_seconds_sum{{{labels}=\"200\"}} 0.065"),
            format!("http_server_request_duration_seconds_bucket{{{labels}=\"503\",le=\"10\"}} 0"),
            format!("http_server_request_duration_seconds_bucket{{{labels}=\"503\",le=\"+Inf\"}} 1"),
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is missing in\n{text}");
        }
        assert!(!text.contains("db_client"), "no pool, no pool series");
    }

    #[test]
    fn the_pool_has_opentelemetrys_names() {
        let metrics = Metrics::default();
        metrics.pool.wait.add(Duration::from_millis(191));
        metrics.pool.held.add(Duration::from_millis(21));
        metrics.pool.timeouts.fetch_add(3, Ordering::Relaxed);
        let text = metrics.render(Some(PoolState { used: 4, idle: 1, max: 5, pending: 45 }));
        for line in [
            "db_client_connection_count{state=\"used\"} 4",
            "db_client_connection_count{state=\"idle\"} 1",
            "db_client_connection_max 5",
            "db_client_connection_pending_requests 45",
            "db_client_connection_timeouts_total 3",
            "db_client_connection_wait_time_seconds_count 1",
            "db_client_connection_wait_time_seconds_sum 0.191",
            "db_client_connection_use_time_seconds_count 1",
            "db_client_connection_use_time_seconds_sum 0.021",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is missing in\n{text}");
        }
    }
}
