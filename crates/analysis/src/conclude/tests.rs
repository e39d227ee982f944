//! Whole records to whole verdicts.

use model::finding::Certainty;
use model::signal::*;
use model::verdict::Phase::{Baseline, Confirm, Over, Probe, Trial};

use super::*;
use crate::search::Settings;
use crate::sketch::{Level, record};

/// A pool of 5 connections held for 20.6 ms.
fn pooled(phase: Phase, users: u64) -> Level {
    let rate = (users as f64 / 0.0211).min(242.0);
    let (used, latency_ms) = ((rate * 0.0206).min(5.0), users as f64 / rate * 1e3);
    let level = Level::new(phase, users, rate.floor(), latency_ms);
    let level = level.see("host", HOST_CORES, 2.0).see("host", HOST_BUSY, 0.1 + rate * 0.0009);
    let level = level.see("gen", RUN, 0.05).see("gen", RUN_WAIT, 0.01).see("gen", CORES_ALLOWED, 2.0);
    let level = level.see("svc", RUN, rate * 0.0004).see("svc", RUN_WAIT, 0.001).see("svc", CORES_ALLOWED, 2.0);
    let level = level.see("db", RUN, rate * 0.0002).see("db", RUN_WAIT, 0.001).see("db", CORES_ALLOWED, 2.0);
    let level = level.see("db", PG_ACTIVE_CPU, 0.1).see("db", PG_ACTIVE_OTHER, (used - 0.1).max(0.0));
    level.see("svc", DB_SOCKETS, 5.0)
}

fn conclude_all(levels: &[Level]) -> Verdict {
    verdict(&record(levels), &Search::new(Settings::default()), Duration::from_secs(150))
}

#[test]
fn a_search_becomes_the_document_of_the_contract() {
    let verdict = conclude_all(&[
        pooled(Baseline, 1),
        pooled(Probe, 16),
        pooled(Probe, 64),
        pooled(Probe, 256),
        pooled(Trial, 118),
        pooled(Confirm, 111),
        pooled(Over, 150),
    ]);
    assert_eq!((verdict.bottleneck.id.as_str(), verdict.bottleneck.certainty), ("db.pool", Certainty::Proved));
    assert_eq!(verdict.capacity.state, CapacityState::Found);
    insta::assert_json_snapshot!(verdict);
}

#[test]
fn a_generator_at_its_limit_makes_every_number_an_at_least() {
    let red = |users| pooled(Probe, users).late(80.0);
    let verdict = conclude_all(&[pooled(Baseline, 1), red(16), red(16)]);
    assert_eq!(verdict.capacity.state, CapacityState::GeneratorLimited);
    assert_eq!((verdict.capacity.users, verdict.capacity.users_high), (16, None));
    assert!(verdict.caveats.iter().any(|caveat| caveat.contains("at least")), "{:?}", verdict.caveats);
    assert!(verdict.caveats.iter().any(|caveat| caveat.contains("80 ms late")), "{:?}", verdict.caveats);
}

#[test]
fn a_service_that_died_keeps_what_was_learnt() {
    let dead = pooled(Probe, 256).failing(1.0, "1212: dial: connection refused").see("svc", ALIVE, 0.0);
    let verdict = conclude_all(&[pooled(Baseline, 1), pooled(Probe, 16), pooled(Probe, 64), dead]);
    assert_eq!((verdict.capacity.state, verdict.capacity.users), (CapacityState::Crashed, 64));
    assert!(verdict.bottleneck.sentence.contains("uuid-api died"), "{}", verdict.bottleneck.sentence);
    assert_eq!((verdict.steps.len(), verdict.peak.users), (4, 64));
}

#[test]
fn a_floor_is_diagnosed_at_its_only_step() {
    let verdict = conclude_all(&[Level::new(Baseline, 1, 1.0, 900.0)]);
    assert_eq!((verdict.capacity.state, verdict.bottleneck.id.as_str()), (CapacityState::Floor, "pattern.floor"));
    assert_eq!(verdict.capacity.broken_by.as_deref(), Some("http_req_duration: p(90)<500"));
}

#[test]
fn a_service_that_does_not_recover_is_said_so() {
    let levels = [
        pooled(Baseline, 1),
        pooled(Probe, 64),
        pooled(Trial, 130),
        pooled(Confirm, 110),
        pooled(Over, 150),
        Level::new(Phase::Return, 88, 20.0, 4000.0),
    ];
    let verdict = conclude_all(&levels);
    assert!(verdict.caveats.iter().any(|caveat| caveat.contains("did not recover")), "{:?}", verdict.caveats);
}
