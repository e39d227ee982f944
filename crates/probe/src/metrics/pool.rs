//! Connection pools by the names that libraries give their figures. Known names are taken at their word; otherwise
//! words in names are compared and the guess is said aloud, since a wrong guess would mislead.

use std::collections::BTreeMap;

use model::signal::{self, Signal};

use super::text::Sample;

/// What a scrape says about the service's pools, several pools summed up.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Pool {
    pub(crate) figures: BTreeMap<&'static str, (Signal, f64)>,
    /// Names that were guessed, and what they were taken for.
    pub(crate) guesses: Vec<String>,
}

/// How a figure of some library becomes one of ours.
struct Rule {
    /// Its name; a name with a unit or `_total` behind it is meant as well.
    name: &'static str,
    /// A label that it must have.
    label: Option<(&'static str, &'static str)>,
    signal: Signal,
    /// What one of its units is in ours.
    scale: f64,
}

const fn rule(name: &'static str, signal: Signal) -> Rule {
    Rule { name, label: None, signal, scale: 1.0 }
}

const fn state(name: &'static str, state: &'static str, signal: Signal) -> Rule {
    Rule { name, label: Some(("state", state)), signal, scale: 1.0 }
}

const fn scaled(name: &'static str, signal: Signal, scale: f64) -> Rule {
    Rule { name, label: None, signal, scale }
}

const MS: f64 = 1e-3;
const NS: f64 = 1e-9;

/// OpenTelemetry's names of today, its older names, HikariCP's (Micrometer), those of Go's `database/sql` from two
/// exporters, and pgx's.
const RULES: &[Rule] = &[
    state("db_client_connection_count", "used", signal::POOL_USED),
    state("db_client_connection_count", "idle", signal::POOL_IDLE),
    rule("db_client_connection_max", signal::POOL_MAX),
    rule("db_client_connection_pending_requests", signal::POOL_PENDING),
    rule("db_client_connection_timeouts", signal::POOL_TIMEOUTS),
    rule("db_client_connection_wait_time_seconds_sum", signal::POOL_WAIT),
    rule("db_client_connection_wait_time_seconds_count", signal::POOL_WAITS),
    rule("db_client_connection_wait_time_sum", signal::POOL_WAIT),
    rule("db_client_connection_wait_time_count", signal::POOL_WAITS),
    rule("db_client_connection_use_time_seconds_sum", signal::POOL_USE),
    rule("db_client_connection_use_time_seconds_count", signal::POOL_USES),
    rule("db_client_connection_use_time_sum", signal::POOL_USE),
    rule("db_client_connection_use_time_count", signal::POOL_USES),
    state("db_client_connections_usage", "used", signal::POOL_USED),
    state("db_client_connections_usage", "idle", signal::POOL_IDLE),
    rule("db_client_connections_max", signal::POOL_MAX),
    rule("db_client_connections_pending_requests", signal::POOL_PENDING),
    rule("db_client_connections_timeouts", signal::POOL_TIMEOUTS),
    scaled("db_client_connections_wait_time_milliseconds_sum", signal::POOL_WAIT, MS),
    rule("db_client_connections_wait_time_milliseconds_count", signal::POOL_WAITS),
    scaled("db_client_connections_wait_time_sum", signal::POOL_WAIT, MS),
    rule("db_client_connections_wait_time_count", signal::POOL_WAITS),
    scaled("db_client_connections_use_time_milliseconds_sum", signal::POOL_USE, MS),
    rule("db_client_connections_use_time_milliseconds_count", signal::POOL_USES),
    scaled("db_client_connections_use_time_sum", signal::POOL_USE, MS),
    rule("db_client_connections_use_time_count", signal::POOL_USES),
    rule("hikaricp_connections_max", signal::POOL_MAX),
    rule("hikaricp_connections_active", signal::POOL_USED),
    rule("hikaricp_connections_idle", signal::POOL_IDLE),
    rule("hikaricp_connections_pending", signal::POOL_PENDING),
    rule("hikaricp_connections_timeout", signal::POOL_TIMEOUTS),
    rule("hikaricp_connections_acquire_seconds_sum", signal::POOL_WAIT),
    rule("hikaricp_connections_acquire_seconds_count", signal::POOL_WAITS),
    rule("hikaricp_connections_usage_seconds_sum", signal::POOL_USE),
    rule("hikaricp_connections_usage_seconds_count", signal::POOL_USES),
    rule("go_sql_max_open_connections", signal::POOL_MAX),
    rule("go_sql_in_use_connections", signal::POOL_USED),
    rule("go_sql_idle_connections", signal::POOL_IDLE),
    rule("go_sql_wait_count", signal::POOL_WAITS),
    rule("go_sql_wait_duration_seconds", signal::POOL_WAIT),
    rule("go_sql_stats_connections_max_open", signal::POOL_MAX),
    rule("go_sql_stats_connections_in_use", signal::POOL_USED),
    rule("go_sql_stats_connections_idle", signal::POOL_IDLE),
    rule("go_sql_stats_connections_waited_for", signal::POOL_WAITS),
    rule("go_sql_stats_connections_blocked_seconds", signal::POOL_WAIT),
    rule("pgxpool_max_conns", signal::POOL_MAX),
    rule("pgxpool_acquired_conns", signal::POOL_USED),
    rule("pgxpool_idle_conns", signal::POOL_IDLE),
    rule("pgxpool_acquire_count", signal::POOL_WAITS),
    rule("pgxpool_canceled_acquire_count", signal::POOL_TIMEOUTS),
    scaled("pgxpool_acquire_duration_ns", signal::POOL_WAIT, NS),
    rule("pgxpool_acquire_duration_seconds", signal::POOL_WAIT),
];

/// Endings that name a unit or a kind and change nothing.
const ENDINGS: [&str; 5] = ["", "_total", "_connections", "_connections_total", "_requests"];

/// Reads the pools of a scrape.
pub(crate) fn read(samples: &[Sample]) -> Pool {
    let mut pool = Pool::default();
    for sample in samples.iter().filter(|sample| sample.value.is_finite()) {
        if let Some(rule) = RULES.iter().find(|rule| rule.matches(sample)) {
            pool.add(rule.signal, sample.value * rule.scale);
        }
    }
    if pool.figures.is_empty() {
        guess(samples, &mut pool);
    }
    pool
}

impl Pool {
    fn add(&mut self, signal: Signal, value: f64) {
        self.figures.entry(signal.name).or_insert((signal, 0.0)).1 += value;
    }
}

impl Rule {
    fn matches(&self, sample: &Sample) -> bool {
        let ending = sample.name.strip_prefix(self.name);
        ending.is_some_and(|ending| ENDINGS.contains(&ending))
            && self.label.is_none_or(|(name, value)| has(sample, name, value))
    }
}

/// Exporters prefix label names in different ways: `state`, `pool_state`, `db_client_connection_state`.
fn has(sample: &Sample, name: &str, value: &str) -> bool {
    let is_named =
        |known: &str| known.strip_suffix(name).is_some_and(|front| front.is_empty() || front.ends_with(['_', '.']));
    sample.labels.iter().any(|(known, said)| is_named(known) && said == value)
}

/// Words that say "this is about a pool", and words that say which figure. Only gauges are guessed: what a counter of
/// an unknown library counts is anybody's guess.
const POOLS: [&str; 7] = ["pool", "db", "sql", "database", "postgres", "pg", "jdbc"];
const FIGURES: &[(&[&str], Signal)] = &[
    (&["pending", "waiting", "waiters", "queued"], signal::POOL_PENDING),
    (&["used", "active", "busy", "acquired", "borrowed"], signal::POOL_USED),
    (&["idle", "available", "free"], signal::POOL_IDLE),
    (&["max", "limit"], signal::POOL_MAX),
];
/// Endings of names that are counters or parts of histograms.
const COUNTERS: [&str; 6] = ["total", "sum", "count", "bucket", "created", "seconds"];
/// Pools of something else.
const OTHER_POOLS: [&str; 6] = ["thread", "threads", "threadpool", "memory", "buffer", "worker"];

fn guess(samples: &[Sample], pool: &mut Pool) {
    for sample in samples.iter().filter(|sample| sample.value.is_finite()) {
        let lower = sample.name.to_ascii_lowercase();
        let words: Vec<&str> = lower.split(['_', ':', '.']).filter(|word| !word.is_empty()).collect();
        let has_one_of = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
        let is_counter = words.last().is_some_and(|last| COUNTERS.contains(last));
        if is_counter || has_one_of(&OTHER_POOLS) || !has_one_of(&POOLS) {
            continue;
        }
        let in_use = words.windows(2).any(|pair| pair == ["in", "use"]);
        let by_word = || FIGURES.iter().find(|(wanted, _)| has_one_of(wanted)).map(|(_, signal)| *signal);
        let by_label = || FIGURES.iter().find(|(wanted, _)| wanted.iter().any(|word| has(sample, "state", word)));
        let figure = if in_use { Some(signal::POOL_USED) } else { by_word() };
        if let Some(signal) = figure.or_else(|| by_label().map(|(_, signal)| *signal)) {
            pool.add(signal, sample.value);
            let guess = format!("{} as {}", sample.name, signal.name);
            if !pool.guesses.contains(&guess) {
                pool.guesses.push(guess);
            }
        }
    }
}

#[cfg(test)]
mod tests;
