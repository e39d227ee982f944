//! Pools as real libraries write them.

use super::*;
use crate::metrics::text::parse;

fn check(text: &str, expected: &[(Signal, f64)]) {
    let pool = read(&parse(text));
    let found: Vec<_> = pool.figures.values().map(|(signal, value)| (signal.name, *value)).collect();
    let mut wanted: Vec<_> = expected.iter().map(|(signal, value)| (signal.name, *value)).collect();
    wanted.sort_by_key(|(name, _)| *name);
    assert_eq!(found, wanted);
    assert!(pool.guesses.is_empty());
}

#[test]
fn open_telemetry_as_of_today() {
    check(
        "db_client_connection_count{db_client_connection_pool_name=\"a\",db_client_connection_state=\"used\"} 4\n\
         db_client_connection_count{state=\"idle\"} 1\n\
         db_client_connection_max 5\ndb_client_connection_pending_requests 45\n\
         db_client_connection_timeouts_total 2\n\
         db_client_connection_wait_time_seconds_bucket{le=\"0.1\"} 7\n\
         db_client_connection_wait_time_seconds_sum 12.5\ndb_client_connection_wait_time_seconds_count 60\n\
         db_client_connection_use_time_seconds_sum 1.25\ndb_client_connection_use_time_seconds_count 61\n",
        &[
            (signal::POOL_USED, 4.0),
            (signal::POOL_IDLE, 1.0),
            (signal::POOL_MAX, 5.0),
            (signal::POOL_PENDING, 45.0),
            (signal::POOL_TIMEOUTS, 2.0),
            (signal::POOL_WAIT, 12.5),
            (signal::POOL_WAITS, 60.0),
            (signal::POOL_USE, 1.25),
            (signal::POOL_USES, 61.0),
        ],
    );
}

#[test]
fn older_open_telemetry_counts_milliseconds() {
    check(
        "db_client_connections_usage{state=\"used\"} 3\ndb_client_connections_usage{state=\"idle\"} 2\n\
         db_client_connections_wait_time_milliseconds_sum 1500\ndb_client_connections_use_time_milliseconds_count 9\n",
        &[(signal::POOL_USED, 3.0), (signal::POOL_IDLE, 2.0), (signal::POOL_WAIT, 1.5), (signal::POOL_USES, 9.0)],
    );
}

#[test]
fn several_pools_are_summed_up() {
    check(
        "hikaricp_connections{pool=\"a\"} 10\nhikaricp_connections_max{pool=\"a\"} 10\nhikaricp_connections_max{pool=\"b\"} 5\n\
         hikaricp_connections_active{pool=\"a\"} 9\nhikaricp_connections_pending{pool=\"a\"} 3\n\
         hikaricp_connections_timeout_total{pool=\"a\"} 1\nhikaricp_connections_acquire_seconds_sum{pool=\"a\"} 2.5\n",
        &[
            (signal::POOL_MAX, 15.0),
            (signal::POOL_USED, 9.0),
            (signal::POOL_PENDING, 3.0),
            (signal::POOL_TIMEOUTS, 1.0),
            (signal::POOL_WAIT, 2.5),
        ],
    );
}

#[test]
fn go_pools() {
    check(
        "go_sql_max_open_connections{db_name=\"x\"} 8\ngo_sql_in_use_connections 7\ngo_sql_idle_connections 1\n\
         go_sql_wait_count_total 90\ngo_sql_wait_duration_seconds_total 4.5\n",
        &[
            (signal::POOL_MAX, 8.0),
            (signal::POOL_USED, 7.0),
            (signal::POOL_IDLE, 1.0),
            (signal::POOL_WAITS, 90.0),
            (signal::POOL_WAIT, 4.5),
        ],
    );
    check(
        "pgxpool_max_conns 4\npgxpool_acquired_conns 4\npgxpool_acquire_duration_ns_total 2000000000\n",
        &[(signal::POOL_MAX, 4.0), (signal::POOL_USED, 4.0), (signal::POOL_WAIT, 2.0)],
    );
}

#[test]
fn unknown_names_are_guessed_and_the_guess_is_said() {
    let pool = read(&parse(
        "myapp_db_pool_connections_in_use 4\nmyapp_db_pool_waiting 9\nmyapp_db_pool_size{state=\"idle\"} 1\n\
         myapp_db_pool_waiting_seconds_sum 7\nmyapp_thread_pool_active 3\nhttp_requests_pending 4\n",
    ));
    let value = |signal: Signal| pool.figures.get(signal.name).map(|(_, value)| *value);
    assert_eq!(value(signal::POOL_USED), Some(4.0));
    assert_eq!(value(signal::POOL_PENDING), Some(9.0));
    assert_eq!(value(signal::POOL_IDLE), Some(1.0));
    assert_eq!(pool.guesses.len(), 3);
    assert_eq!(pool.guesses[0], "myapp_db_pool_connections_in_use as pool.used");
}

#[test]
fn a_scrape_without_a_pool_has_none() {
    check("up 1\nprocess_open_fds 9\ngo_goroutines 7\nhttp_server_active_requests 3\n", &[]);
}
