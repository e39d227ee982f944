//! One symptom, five walls: the same service in front of the same database, with the numbers that were measured on a
//! machine of two cores. The queue in front of the pool is the symptom of all of them.

use super::*;

struct Run {
    users: u64,
    rate: f64,
    pool: f64,
    /// Connections in use and requests waiting.
    used: f64,
    pending: f64,
    /// Sessions: computing, locked, other waits, idle in transaction.
    sessions: [f64; 4],
    /// Cores: service, database.
    run: [f64; 2],
    /// Cores waited for: service, database.
    wait: [f64; 2],
    thread: (f64, f64),
}

fn level(run: &Run) -> Level {
    let total_ms = run.users as f64 / run.rate * 1e3;
    let host = run.run.iter().sum::<f64>() + 0.06;
    let level = busy(Level::new(Confirm, run.users, run.rate, total_ms), host, 0.05, run.run[0], run.run[1]);
    let level = waiting(threads(level, run.thread.0, run.thread.1), 0.01, run.wait[0], run.wait[1]);
    let [cpu, lock, other, idle] = run.sessions;
    level
        .see("db", PG_ACTIVE_CPU, cpu)
        .see("db", PG_ACTIVE_LOCK, lock)
        .see("db", PG_ACTIVE_OTHER, other)
        .see("db", PG_IDLE_IN_TRANSACTION, idle)
        .see("db", PG_MAX_CONNECTIONS, 100.0)
        .see("svc", DB_SOCKETS, run.pool)
        .see("svc", POOL_MAX, run.pool)
        .see("svc", POOL_USED, run.used)
        .see("svc", POOL_PENDING, run.pending)
        .see("svc", POOL_USE, run.used)
        .see("svc", POOL_WAIT, run.rate * (total_ms / 1e3) - run.used - 0.1)
}

/// One user of the same service: 20.6 ms, of which 20.5 hold a connection.
fn alone() -> Level {
    let level = light().see("svc", POOL_USE, 0.97).see("svc", POOL_USED, 0.97).see("svc", POOL_MAX, 5.0);
    let level = level.see("svc", POOL_PENDING, 0.0).see("svc", POOL_WAIT, 0.0).see("svc", DB_SOCKETS, 1.0);
    level.see("db", PG_ACTIVE_CPU, 0.02).see("db", PG_ACTIVE_OTHER, 0.94)
}

const POOL_5: Run = Run {
    users: 50,
    rate: 236.0,
    pool: 5.0,
    used: 4.86,
    pending: 45.0,
    sessions: [0.05, 0.0, 4.75, 0.0],
    run: [0.11, 0.045],
    wait: [0.01, 0.01],
    thread: (0.12, 0.11),
};

#[test]
fn pool_5_with_a_20_ms_call_is_db_pool() {
    let diagnosis = check(&[alone(), level(&POOL_5)], "db.pool", Certainty::Proved);
    insta::assert_json_snapshot!(diagnosis);
}

#[test]
fn pool_5_seen_from_outside_only_is_still_db_pool() {
    let outside = |users, rate: f64, sockets: f64, busy_sessions: f64| {
        let level = busy(Level::new(Confirm, users, rate, users as f64 / rate * 1e3), 0.3, 0.05, 0.11, 0.045);
        let level = waiting(level, 0.01, 0.01, 0.01);
        level.see("svc", DB_SOCKETS, sockets).see("db", PG_ACTIVE_CPU, 0.0).see("db", PG_ACTIVE_OTHER, busy_sessions)
    };
    let levels = [light(), outside(20, 235.0, 5.0, 4.8), outside(50, 236.0, 5.0, 4.8)];
    let diagnosis = check(&levels, "db.pool", Certainty::Proved);
    assert!(diagnosis.bottleneck.sentence.contains("one of 5 database connections"));
    assert!(diagnosis.bottleneck.evidence.iter().any(|proof| proof.source == "process titles"));
}

#[test]
fn a_full_pool_whose_inside_was_not_seen_is_not_proved() {
    let loaded = busy(Level::new(Confirm, 50, 236.0, 212.0), 0.3, 0.05, 0.11, 0.0);
    let loaded = loaded.see("svc", POOL_MAX, 5.0).see("svc", POOL_USE, 4.86).see("svc", POOL_PENDING, 45.0);
    let loaded = waiting(loaded, 0.01, 0.01, 0.0).see("svc", POOL_WAIT, 45.0);
    check(&[light(), loaded], "db.pool", Certainty::Strong);
}

#[test]
fn db_pool_stays_db_pool_on_a_machine_that_others_keep_busy() {
    let noisy = Run { wait: [0.2, 0.1], ..POOL_5 };
    let diagnosis = last(&record(&[alone(), level(&noisy).see("host", HOST_BUSY, 2.0)]));
    assert_eq!(diagnosis.bottleneck.id, "db.pool", "{diagnosis:#?}");
}

#[test]
fn pool_16_with_7_ms_of_sql_is_db_cpu() {
    let run = Run {
        users: 32,
        rate: 275.0,
        pool: 16.0,
        used: 12.6,
        pending: 16.5,
        sessions: [12.1, 0.0, 0.3, 0.1],
        run: [0.09, 1.87],
        wait: [0.05, 10.4],
        thread: (0.14, 0.09),
    };
    let diagnosis = check(&[alone(), level(&run)], "db.cpu", Certainty::Proved);
    insta::assert_json_snapshot!(diagnosis);
}

#[test]
fn a_pool_held_in_transactions_looks_like_db_held_and_is_never_db_pool() {
    let run = Run { rate: 220.0, used: 4.95, sessions: [0.1, 0.0, 0.1, 4.7], ..POOL_5 };
    let diagnosis = check(&[alone(), level(&run)], "unknown", Certainty::Unknown);
    assert!(ruled_out(&diagnosis, "db.pool").contains("4.7 of 5 connections are open in a transaction"));
    insta::assert_snapshot!(diagnosis.bottleneck.sentence, @"At 50 users it looks like db.held: 4.7 of 5 connections are open in a transaction while the database waits for the service. More connections would not help. That it is the limit is not proved.");
}

#[test]
fn a_pool_that_waits_for_one_row_looks_like_db_lock_and_is_never_db_pool() {
    let run = Run {
        rate: 115.0,
        pool: 16.0,
        used: 15.9,
        pending: 34.0,
        sessions: [0.6, 14.3, 0.2, 0.5],
        run: [0.06, 0.15],
        ..POOL_5
    };
    let diagnosis = check(&[alone(), level(&run)], "unknown", Certainty::Unknown);
    assert!(ruled_out(&diagnosis, "db.pool").contains("14 of 16 sessions wait for locks"));
    assert!(diagnosis.bottleneck.sentence.contains("looks like db.lock"));
}

#[test]
fn pool_5_with_a_tiny_query_is_one_core() {
    let run = Run {
        rate: 3392.0,
        used: 2.05,
        pending: 41.0,
        sessions: [0.6, 0.0, 0.1, 0.2],
        run: [0.75, 0.42],
        wait: [0.25, 0.1],
        thread: (0.98, 0.73),
        ..POOL_5
    };
    let alone = light().see("svc", POOL_USE, 0.03).see("svc", POOL_MAX, 5.0).see("svc", POOL_PENDING, 0.0);
    let alone = alone.see("svc", POOL_WAIT, 0.0).see("db", PG_ACTIVE_CPU, 0.01);
    let diagnosis = check(&[alone, level(&run)], "svc.one-core", Certainty::Proved);
    assert!(ruled_out(&diagnosis, "db.pool").contains("41 %"));
    assert!(!lever(&diagnosis, "db.pool.size").helps);
    insta::assert_json_snapshot!(diagnosis);
}

#[test]
fn a_larger_pool_moves_the_line_as_measured() {
    // Measured: 5 -> 10 -> 20 connections gave 236, 490 and 974 requests per second.
    let diagnosis = last(&record(&[alone(), level(&POOL_5)]));
    let larger = lever(&diagnosis, "db.pool.size");
    assert_eq!(larger.change, "pool 5 -> 20");
    let (low, high) = (larger.rate_per_s_low.unwrap(), larger.rate_per_s_high.unwrap());
    assert!(low < 974.0 && 974.0 < high, "{larger:#?}");
    assert!(!lever(&diagnosis, "svc.cores").helps && !lever(&diagnosis, "db.cores").helps);
}
