//! Ends drawn by hand: what is a queue, what only looks like one, and which way it is.

use model::record::RunRecord;
use model::signal::*;
use model::verdict::Phase::{Baseline, Confirm};

use super::*;
use crate::scene::Scene;
use crate::sketch::{Level, record};

/// Requests per second of all cases.
const RATE: f64 = 4_000.0;

/// An end of connections that always send and whose packets take `beyond_ms` longer than on a free road.
fn end(beyond_ms: f64, message_bytes: f64) -> End {
    End {
        busy: Some(0.97),
        queued_bytes: Some(100_000.0),
        rtt_ms: Some(beyond_ms + 0.01),
        rtt_min_ms: Some(0.01),
        reader_limited: Some(0.0),
        bytes_per_s: Some(message_bytes * RATE),
        retransmitted: Some(0.0),
        repeated_per_s: Some(0.0),
    }
}

#[test]
fn what_a_delayed_acknowledgement_may_make_is_no_queue() {
    assert!(!end(44.0, 164.0).is_queued(RATE), "a timer tick beyond 40 ms");
    assert!(end(115.0, 164.0).is_queued(RATE));
    assert!(!End { queued_bytes: Some(0.0), ..end(115.0, 164.0) }.is_queued(RATE));
    assert!(!End { busy: Some(0.3), ..end(115.0, 164.0) }.is_queued(RATE));
    // A receiver far away may wait as long as its own round trip.
    assert!(!End { rtt_min_ms: Some(90.0), ..end(180.0, 164.0) }.is_queued(RATE));
    // Messages of several segments are acknowledged at once; only losses tell that from a large segment on loopback.
    assert!(!end(20.0, 20_000.0).is_queued(RATE));
    assert!(End { retransmitted: Some(0.002), ..end(20.0, 20_000.0) }.is_queued(RATE));
}

#[test]
fn the_way_that_is_full_is_where_packets_are_lost_else_where_more_go() {
    let link = |requests: f64, answers: f64| Link { requests: end(100.0, requests), answers: end(100.0, answers) };
    assert_eq!(link(93.0, 164.0).direction(RATE), Direction::Answers);
    assert_eq!(link(2_000.0, 164.0).direction(RATE), Direction::Requests);
    assert_eq!(link(160.0, 164.0).direction(RATE), Direction::Both);
    // An uplink that is slower than the downlink: what the service gets twice was answered in vain, and the reverse.
    let mut uplink = link(93.0, 20_000.0);
    uplink.requests.repeated_per_s = Some(80.0);
    uplink.answers.repeated_per_s = Some(3.0);
    assert_eq!(uplink.direction(RATE), Direction::Requests);
    let mut downlink = link(2_000.0, 164.0);
    downlink.answers.repeated_per_s = Some(80.0);
    assert_eq!(downlink.direction(RATE), Direction::Answers);
    assert_eq!(Link { answers: End::default(), ..link(93.0, 0.0) }.direction(RATE), Direction::Requests);
}

#[test]
fn half_the_payload_is_not_half_the_packet_and_the_other_way_stays() {
    let link = Link { requests: end(100.0, 93.0), answers: end(100.0, 164.0) };
    // 230 bytes of answer on the wire become 148, but the 159 of a request stay.
    let rate = link.rate_with_half(Direction::Answers, RATE).unwrap();
    assert!((rate - RATE * 230.0 / 159.0).abs() < 1.0, "{rate}");
    let large = Link { requests: end(100.0, 93.0), answers: end(100.0, 20_000.0) };
    let rate = large.rate_with_half(Direction::Answers, RATE).unwrap();
    assert!((rate / RATE - 2.0).abs() < 0.01, "{rate}");
}

fn seen(target: &str, levels: &[Level]) -> RunRecord {
    let mut record = record(levels);
    record.plan.as_mut().unwrap().target = target.to_owned();
    record
}

fn generator(phase: model::verdict::Phase, least_ms: f64) -> Level {
    Level::new(phase, 500, RATE, 125.0)
        .see("gen", SEND_BUSY_SHARE, 0.97)
        .see("gen", SEND_QUEUE, 46_000.0)
        .see("gen", RTT_MS, 115.0)
        .see("gen", RTT_MIN_MS, least_ms)
}

#[test]
fn the_least_round_trip_is_that_of_the_whole_record() {
    let levels = [generator(Baseline, 0.007), generator(Confirm, 74.0)];
    let record = seen("http://10.0.0.5/uuid/17", &levels);
    let scene = Scene::new(&record, &record.steps[1]);
    assert_eq!(scene.link.requests.rtt_min_ms, Some(0.007));
    assert!((scene.link_wait_ms().unwrap() - 114.993).abs() < 1e-6);
}

#[test]
fn nothing_queues_on_the_way_to_ourselves() {
    let levels = [generator(Confirm, 0.007)];
    for target in
        ["http://127.0.0.1:8080/uuid/17", "http://localhost/", "http://[::1]:80/", "https://me@127.1.2.3:1?q=a:b"]
    {
        let record = seen(target, &levels);
        assert_eq!(Scene::new(&record, &record.steps[0]).link.requests, End::default(), "{target}");
    }
    for target in ["http://10.0.0.5:8080/", "http://[fe80::1]/", "script.js", "http://localhost.example/"] {
        let record = seen(target, &levels);
        assert!(Scene::new(&record, &record.steps[0]).link.requests.is_seen(), "{target}");
    }
}
