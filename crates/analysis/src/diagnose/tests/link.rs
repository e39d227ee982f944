//! A full link, in each direction, and what looks like one: a service that takes its time on a road that is free.

use super::*;

/// What both ends see of connections that always wait for something: generator first, then service.
struct Ends {
    rtt_ms: f64,
    queued: f64,
    /// Bytes per request and per answer.
    bytes: [f64; 2],
    /// Share of segments sent again.
    again: [f64; 2],
    /// Segments per second received twice.
    twice: [f64; 2],
}

const FREE: Ends = Ends { rtt_ms: 0.02, queued: 0.0, bytes: [93.0, 164.0], again: [0.0; 2], twice: [0.0; 2] };

fn connected(level: Level, rate: f64, ends: &Ends) -> Level {
    let mut level = level;
    for (index, subject) in ["gen", "svc"].into_iter().enumerate() {
        level = level
            .see(subject, SEND_BUSY_SHARE, 0.96)
            .see(subject, SEND_QUEUE, ends.queued)
            .see(subject, RTT_MS, ends.rtt_ms)
            .see(subject, RTT_MIN_MS, 0.007)
            .see(subject, RWND_LIMITED_SHARE, 0.0)
            .see(subject, LINK_BYTES_SENT, ends.bytes[index] * rate)
            .see(subject, SEGMENTS_OUT, rate)
            .see(subject, SEGMENTS_RETRANSMITTED, ends.again[index] * rate)
            .see(subject, SEGMENTS_REPEATED, ends.twice[index]);
    }
    level
}

/// The laptop's third stage: two cores that are mostly idle.
fn remote(users: u64, rate: f64, ends: &Ends) -> Level {
    connected(compute(users, rate, (0.14, 0.01), (0.21, 0.02), 0.1), rate, ends)
}

fn diagnosed(target: &str, levels: &[Level]) -> Diagnosis {
    let mut record = record(levels);
    record.plan.as_mut().unwrap().target = target.to_owned();
    last(&record)
}

const FAR: &str = "http://10.199.0.2:40151/uuid/17";
const HERE: &str = "http://127.0.0.1:40151/uuid/17";

fn alone() -> Level {
    connected(light(), 47.0, &FREE)
}

/// As measured behind 8 Mbit/s: replies are dropped at the service's own interface, which its kernel does not count as
/// sent again; the generator's does.
const FULL: Ends =
    Ends { rtt_ms: 132.0, queued: 110_000.0, bytes: [93.0, 164.0], again: [0.06, 0.0], twice: [0.0, 280.0] };

#[test]
fn net_link_when_answers_fill_it() {
    // A quarter more users and the same throughput is none that grows.
    let levels = [alone(), remote(64, 4_322.0, &FREE), remote(640, 4_310.0, &FULL), remote(811, 4_303.0, &FULL)];
    let diagnosis = diagnosed(FAR, &levels);
    let seen = (diagnosis.bottleneck.id.as_str(), diagnosis.bottleneck.certainty);
    assert_eq!(seen, ("net.link", Certainty::Proved), "{diagnosis:#?}");
    insta::assert_snapshot!(diagnosis.bottleneck.sentence, @"The link is full: towards the users it carries 705.7 kB/s of answers (989.7 kB/s with headers) and not more; 64 users got 4,322/s, 811 users get 4,303/s. Of the 189 ms median, 132 ms is packets waiting on the link (0.007 ms without load); 6 % of the packets are sent again. The service used 0.21 of a core. A faster link or smaller answers would move the line.");
    let smaller = lever(&diagnosis, "net.reply.size");
    // 230 bytes on the wire become 148, but a request's 159 stay.
    assert!((smaller.rate_per_s.unwrap() - 4_303.0 * 230.0 / 159.0).abs() < 5.0, "{smaller:#?}");
    assert!(lever(&diagnosis, "net.link").helps);
    assert!(["svc.cores", "host.split"].iter().all(|id| !lever(&diagnosis, id).helps));
    let ends = diagnosis.bottleneck.evidence.iter().filter(|proof| proof.signal == LINK_BYTES_SENT.name);
    assert_eq!(ends.map(|proof| proof.value.round()).collect::<Vec<_>>(), [705_692.0, 400_179.0]);
}

#[test]
fn net_link_when_requests_fill_it() {
    let ends = Ends { bytes: [2_000.0, 164.0], again: [0.0, 0.02], twice: [60.0, 0.0], ..FULL };
    let levels = [alone(), remote(32, 460.0, &Ends { rtt_ms: 30.0, ..ends }), remote(90, 455.0, &ends)];
    let diagnosis = diagnosed(FAR, &levels);
    assert_eq!(diagnosis.bottleneck.id, "net.link", "{diagnosis:#?}");
    assert!(diagnosis.bottleneck.sentence.contains("towards the service it carries 910.0 kB/s of requests"));
    assert!(lever(&diagnosis, "net.request.size").helps);
    assert!(!diagnosis.levers.iter().any(|lever| lever.id == "net.reply.size"));
}

#[test]
fn the_generators_end_alone_is_enough() {
    let only_generator = |level: Level| {
        let unseen = [SEND_BUSY_SHARE, SEND_QUEUE, RTT_MS, RTT_MIN_MS, SEGMENTS_REPEATED];
        unseen.into_iter().fold(level, |level, signal| level.unsee("svc", signal))
    };
    let levels = [only_generator(alone()), only_generator(remote(811, 4_303.0, &FULL))];
    let diagnosis = diagnosed(FAR, &levels);
    assert_eq!(diagnosis.bottleneck.id, "net.link", "{diagnosis:#?}");
}

#[test]
fn a_full_link_stays_net_link_on_a_machine_that_others_keep_busy() {
    let busy = |users, rate, ends| {
        let level = compute(users, rate, (0.14, 0.24), (0.21, 0.46), 1.33);
        connected(level, rate, ends).see("host", HOST_BUSY, 1.98)
    };
    let levels = [alone(), busy(64, 4_322.0, &Ends { rtt_ms: 15.0, ..FREE }), busy(811, 4_303.0, &FULL)];
    let diagnosis = diagnosed(FAR, &levels);
    assert_eq!(diagnosis.bottleneck.id, "net.link", "{diagnosis:#?}");
}

#[test]
fn large_answers_on_a_slow_link_are_net_link() {
    let linked = |users, rtt_ms, queued| {
        let ends = Ends { rtt_ms, queued, bytes: [93.0, 19_400.0], ..FREE };
        connected(compute(users, 235.0, (0.02, 0.0), (0.06, 0.0), 0.0), 235.0, &ends)
    };
    let diagnosis = diagnosed(FAR, &[alone(), linked(5, 20.0, 4e4), linked(50, 208.0, 8e5)]);
    let seen = (diagnosis.bottleneck.id.as_str(), diagnosis.bottleneck.certainty);
    assert_eq!(seen, ("net.link", Certainty::Proved), "{diagnosis:#?}");
    insta::assert_snapshot!(diagnosis.bottleneck.sentence, @"The link is full: towards the users it carries 4.6 MB/s of answers (4.8 MB/s with headers) and not more; 5 users got 235/s, 50 users get 235/s. Of the 213 ms median, 208 ms is packets waiting on the link (0.007 ms without load). The service used 0.06 of a core. A faster link or smaller answers would move the line.");
    assert!((lever(&diagnosis, "net.reply.size").rate_per_s.unwrap() - 470.0).abs() < 1.0);
}

/// While a service takes its time, its kernel acknowledges the request after 40 ms: that is the round trip then.
const SLOW: Ends = Ends { rtt_ms: 44.0, queued: 93_000.0, ..FREE };

#[test]
fn a_service_short_of_cores_is_never_net_link() {
    for target in [HERE, FAR] {
        let level = connected(compute(1000, 1050.0, (0.05, 0.02), (1.93, 2.1), 0.0), 1050.0, &SLOW);
        let diagnosis = diagnosed(target, &[alone(), level]);
        assert_eq!(diagnosis.bottleneck.id, "svc.cpu", "{target}");
        assert!(ruled_out(&diagnosis, "net.link").contains("round trip 44 ms (least 0.007 ms)"), "{diagnosis:#?}");
        let level = connected(compute(1000, 20_000.0, (0.7, 0.6), (1.25, 0.75), 0.05), 20_000.0, &SLOW);
        let diagnosis = diagnosed(target, &[alone(), level]);
        assert_eq!(diagnosis.bottleneck.id, "host.contention", "{target}");
    }
}

#[test]
fn acknowledgements_that_wait_for_a_core_are_not_net_link() {
    let late = Ends { rtt_ms: 90.0, ..SLOW };
    let level = connected(compute(1000, 8_000.0, (0.7, 0.6), (1.25, 0.75), 0.05), 8_000.0, &late);
    let diagnosis = diagnosed(FAR, &[alone(), level]);
    assert_eq!(diagnosis.bottleneck.id, "host.contention", "{diagnosis:#?}");
    assert!(ruled_out(&diagnosis, "net.link").contains("something deeper"), "{diagnosis:#?}");
}

#[test]
fn a_service_that_waits_for_something_is_not_net_link() {
    let level = remote(811, 4_303.0, &Ends { queued: 75_000.0, ..SLOW });
    let diagnosis = diagnosed(FAR, &[alone(), level]);
    assert_ne!(diagnosis.bottleneck.id, "net.link", "{diagnosis:#?}");
    // The time on the link is measured, and here there is none.
    assert!(!diagnosis.time_budget_ms.contains_key("link"), "{:?}", diagnosis.time_budget_ms);
}

#[test]
fn a_delayed_acknowledgement_without_queued_bytes_is_not_net_link() {
    let diagnosis = diagnosed(FAR, &[alone(), remote(811, 4_303.0, &Ends { rtt_ms: 132.0, ..FREE })]);
    assert_ne!(diagnosis.bottleneck.id, "net.link");
    assert!(ruled_out(&diagnosis, "net.link").contains("0 B were queued"));
}

#[test]
fn a_throughput_that_grows_with_the_users_is_not_stopped_by_the_link() {
    let quiet = Ends { again: [0.0; 2], twice: [0.0; 2], ..FULL };
    let levels = [alone(), remote(400, 3_000.0, &quiet), remote(800, 6_000.0, &quiet)];
    let diagnosis = diagnosed(FAR, &levels);
    assert_ne!(diagnosis.bottleneck.id, "net.link");
    assert!(ruled_out(&diagnosis, "net.link").contains("still grows: 400 users got 3,000/s, 800 users get 6,000/s"));
}

#[test]
fn slow_readers_are_not_net_link() {
    let slow = |subject| remote(811, 4_303.0, &FULL).see(subject, RWND_LIMITED_SHARE, 0.9);
    let diagnosis = diagnosed(FAR, &[alone(), slow("svc").see("gen", RTT_MS, 1.0)]);
    assert_ne!(diagnosis.bottleneck.id, "net.link");
    assert!(ruled_out(&diagnosis, "net.link").contains("too slow 90 % of the sending time"));
}

#[test]
fn an_undecided_search_is_diagnosed_where_the_promise_broke() {
    // What held is far below, on a machine that others kept busy meanwhile.
    let held = connected(compute(256, 4_312.0, (0.13, 0.5), (0.21, 0.7), 1.6), 4_312.0, &Ends { rtt_ms: 57.0, ..SLOW });
    let mut record = record(&[alone(), remote(724, 4_290.0, &FULL).silent(105), held]);
    record.plan.as_mut().unwrap().target = FAR.to_owned();
    let search = crate::search::Search::new(crate::search::Settings::default());
    let verdict = crate::verdict(&record, &search, std::time::Duration::from_secs(60));
    assert_eq!(verdict.capacity.state, model::verdict::CapacityState::Undecided, "{:?}", verdict.capacity);
    assert_eq!(verdict.bottleneck.id, "net.link", "{verdict:#?}");
    let silent = verdict.bottleneck.evidence.iter().find(|proof| proof.signal == "users.unanswered").unwrap();
    assert!((silent.value - 105.0).abs() < 2.0, "{silent:?}");
    assert!(verdict.caveats.iter().any(|caveat| caveat.starts_with("about 105 of 724 users got no answer")));
}
