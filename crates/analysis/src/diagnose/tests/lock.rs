//! A service whose requests wait for each other: no rule owns that wait yet, and whatever else is busy meanwhile – a
//! machine full of others' work, a burst at the accept queue – must not be taken for it.

use model::verdict::Phase;

use super::*;

/// 33 requests per second whatever the users: the threads sleep in front of a lock.
fn serial(phase: Phase, users: u64) -> Level {
    let level = Level::new(phase, users, 33.0, users as f64 / 33.0 * 1e3);
    threads(waiting(busy(level, 0.15, 0.03, 0.04, 0.0), 0.002, 0.004, 0.0), 0.01, 0.01)
}

fn among_others(level: Level) -> Level {
    level.see("host", HOST_BUSY, 2.0).see("gen", RUN_WAIT, 0.1).see("svc", RUN_WAIT, 0.12)
}

#[test]
fn a_lock_looks_like_a_lock() {
    let levels = [serial(Baseline, 1), serial(Probe, 8), serial(Confirm, 64)];
    let diagnosis = check(&levels, "unknown", Certainty::Unknown);
    insta::assert_snapshot!(diagnosis.bottleneck.sentence, @"At 64 users it looks like svc.lock: they get 33/s, and 8 users got 33/s, while uuid-api computes on 0.04 of 2.0 cores. Requests wait inside it for each other (a lock, a limit of its own) or for another service; that is not proved. Its own queues were not seen: --watch metrics:http://HOST/metrics shows pools, threads and limits.");
}

#[test]
fn a_lock_on_a_machine_full_of_others_work_is_no_fight_over_cores() {
    let levels = [serial(Baseline, 1), serial(Probe, 8), serial(Confirm, 64)].map(among_others);
    let diagnosis = check(&levels, "unknown", Certainty::Unknown);
    assert!(ruled_out(&diagnosis, "host.contention").contains("of the added response time"));
    assert!(diagnosis.time_budget_ms["unexplained"] > 1500.0, "{:?}", diagnosis.time_budget_ms);
}

#[test]
fn a_few_connections_turned_away_do_not_explain_a_lock() {
    let burst = |level: Level| {
        let level = level.connecting(33.0, 40.0).see("svc", LISTEN_BACKLOG, 5.0).see("svc", LISTEN_QUEUE, 0.3);
        level.see("svc", LISTEN_QUEUE_MAX, 6.0).see("svc", LISTEN_OVERFLOWS, 1.0)
    };
    let levels = [serial(Baseline, 1), serial(Probe, 8), burst(serial(Confirm, 64))];
    let diagnosis = check(&levels, "unknown", Certainty::Unknown);
    assert!(ruled_out(&diagnosis, "net.accept").contains("of the added response time"));
}

#[test]
fn a_thread_that_computes_all_the_time_is_no_lock() {
    let spin = |level: Level| threads(level.see("svc", RUN, 0.99).see("host", HOST_BUSY, 1.1), 0.99, 0.98);
    let diagnosis = last(&record(&[serial(Baseline, 1), serial(Probe, 8), spin(serial(Confirm, 64))]));
    assert_eq!(diagnosis.bottleneck.id, "svc.one-core", "{:#?}", diagnosis.bottleneck);
}

#[test]
fn a_throughput_that_still_grows_is_no_lock() {
    let growing = Level::new(Confirm, 64, 100.0, 640.0);
    let growing = waiting(busy(growing, 0.15, 0.03, 0.04, 0.0), 0.002, 0.004, 0.0);
    let diagnosis = check(&[serial(Baseline, 1), serial(Probe, 8), growing], "unknown", Certainty::Unknown);
    assert!(!diagnosis.bottleneck.sentence.contains("svc.lock"), "{}", diagnosis.bottleneck.sentence);
}
