//! Each rule provoked, and each with the look-alike that must not be taken for it.

mod laptop;
mod link;
mod lock;

use model::finding::{Certainty, Diagnosis};
use model::record::RunRecord;
use model::signal::*;
use model::verdict::Phase::{Baseline, Confirm, Probe};

use super::*;
use crate::sketch::{Level, record};

/// Diagnoses the last step against the first.
fn last(record: &RunRecord) -> Diagnosis {
    let (first, last) = (record.steps.first().unwrap(), record.steps.last().unwrap());
    diagnose(record, last, (first != last).then_some(first))
}

fn check(levels: &[Level], id: &str, certainty: Certainty) -> Diagnosis {
    let diagnosis = last(&record(levels));
    let seen = (diagnosis.bottleneck.id.as_str(), diagnosis.bottleneck.certainty);
    assert_eq!(seen, (id, certainty), "{diagnosis:#?}");
    diagnosis
}

fn ruled_out<'d>(diagnosis: &'d Diagnosis, id: &str) -> &'d str {
    let found = diagnosis.bottleneck.ruled_out.iter().find(|out| out.id == id);
    &found.unwrap_or_else(|| panic!("{id} is not ruled out: {diagnosis:#?}")).because
}

fn lever<'d>(diagnosis: &'d Diagnosis, id: &str) -> &'d Lever {
    let found = diagnosis.levers.iter().find(|lever| lever.id == id);
    found.unwrap_or_else(|| panic!("no lever {id}: {:#?}", diagnosis.levers))
}

/// Two cores, everybody nearly idle.
fn quiet(level: Level) -> Level {
    level.see("host", HOST_CORES, 2.0).see("gen", CORES_ALLOWED, 2.0).see("svc", CORES_ALLOWED, 2.0).see(
        "db",
        CORES_ALLOWED,
        2.0,
    )
}

/// Cores in use: machine, generator, service, database.
fn busy(level: Level, host: f64, generator: f64, service: f64, database: f64) -> Level {
    quiet(level)
        .see("host", HOST_BUSY, host)
        .see("gen", RUN, generator)
        .see("svc", RUN, service)
        .see("svc", CPU_USER, service * 0.6)
        .see("svc", CPU_SYSTEM, service * 0.4)
        .see("db", RUN, database)
}

/// Cores waited for: generator, service, database.
fn waiting(level: Level, generator: f64, service: f64, database: f64) -> Level {
    level.see("gen", RUN_WAIT, generator).see("svc", RUN_WAIT, service).see("db", RUN_WAIT, database)
}

fn threads(level: Level, demand: f64, run: f64) -> Level {
    level.see("svc", THREAD_BUSIEST_DEMAND, demand).see("svc", THREAD_BUSIEST_RUN, run)
}

fn light() -> Level {
    let level = busy(Level::new(Baseline, 1, 47.0, 21.0), 0.05, 0.01, 0.02, 0.01);
    threads(waiting(level, 0.001, 0.001, 0.001), 0.02, 0.02)
}

/// A service without a database, all parties on two cores.
fn compute(users: u64, rate: f64, generator: (f64, f64), service: (f64, f64), others: f64) -> Level {
    let level = Level::new(Confirm, users, rate, users as f64 / rate * 1e3);
    let level = busy(level, generator.0 + service.0 + others, generator.0, service.0, 0.0);
    waiting(level, generator.1, service.1, 0.0)
}

#[test]
fn gen_cpu_when_the_generator_is_never_idle_and_the_service_is() {
    let level = compute(500, 1900.0, (1.6, 0.3), (0.3, 0.1), 0.0).unread(0.31);
    let diagnosis = check(&[light(), level], "gen.cpu", Certainty::Proved);
    insta::assert_snapshot!(diagnosis.bottleneck.sentence, @"At 500 users the load generator was the limit: it needed 1.9 cores and got 1.6 of 2.0 and 31 % of the answers were already waiting in its own sockets. Your service can do at least 1,900/s; give the generator more cores or another machine to learn its real limit.");
    assert!(!lever(&diagnosis, "svc.cores").helps);
    assert!(lever(&diagnosis, "gen.cores").helps);
}

#[test]
fn gen_cpu_when_the_generator_is_held_to_a_slice_of_a_core() {
    // A quota: it runs on a tenth of a core and waits for the rest, while the machine is idle.
    let level = compute(50, 300.0, (0.1, 1.8), (0.05, 0.0), 0.0).late(140.0).see("gen", CORES_ALLOWED, 0.1);
    check(&[light(), level], "gen.cpu", Certainty::Proved);
}

#[test]
fn a_slow_service_is_not_gen_cpu() {
    let level = compute(500, 1000.0, (0.1, 0.0), (0.2, 0.0), 0.0);
    let diagnosis = last(&record(&[light(), level]));
    assert_ne!(diagnosis.bottleneck.id, "gen.cpu");
    assert!(ruled_out(&diagnosis, "gen.cpu").contains("0.10 of 2.0 cores"));
}

#[test]
fn host_contention_when_generator_and_service_share_the_cores() {
    let level = compute(1000, 20_000.0, (0.7, 0.6), (1.25, 0.75), 0.05);
    let diagnosis = check(&[light(), level], "host.contention", Certainty::Strong);
    insta::assert_snapshot!(diagnosis.bottleneck.sentence, @"At 1,000 users all 2.0 cores of this machine are busy: the generator takes 0.70 and uuid-api takes 1.2. The service waits 38 % of its ready time for a core. With the generator on another machine the service would carry about 31,200/s, limited by svc.cpu.");
    let split = lever(&diagnosis, "host.split");
    assert!(split.helps && (split.rate_per_s.unwrap() - 31_200.0).abs() < 10.0, "{split:#?}");
    assert_eq!((diagnosis.next[0].id.as_str(), diagnosis.next[0].rate_per_s.round()), ("svc.cpu", 31_200.0));
}

#[test]
fn host_contention_when_foreign_programs_take_the_cores() {
    let level = compute(200, 4000.0, (0.3, 0.5), (0.7, 1.2), 1.0);
    let diagnosis = check(&[light(), level], "host.contention", Certainty::Strong);
    assert!(diagnosis.bottleneck.sentence.contains("other programs and the kernel 1.0"));
    assert!(diagnosis.caveats.iter().any(|caveat| caveat.contains("a quiet machine may do better")));
}

#[test]
fn svc_cpu_when_the_service_alone_fills_the_machine() {
    let level = compute(1000, 1050.0, (0.05, 0.02), (1.93, 2.1), 0.0);
    let diagnosis = check(&[light(), level], "svc.cpu", Certainty::Strong);
    insta::assert_snapshot!(diagnosis.bottleneck.sentence, @"At 1,000 users uuid-api keeps all the CPU it may use busy: 1.9 of 2.0 cores, 1.8 ms of CPU per request, so at most 1,088/s. Cheaper requests or more cores would move the line.");
    assert!(ruled_out(&diagnosis, "host.contention").contains("1.9 of them are the service's own"));
    let cores = lever(&diagnosis, "svc.cores");
    assert!(cores.helps && cores.rate_per_s.unwrap() > 1900.0, "{cores:#?}");
}

#[test]
fn svc_cpu_when_the_service_is_held_to_one_core_of_two() {
    let level = compute(400, 900.0, (0.2, 0.1), (0.97, 0.02), 0.0).see("svc", CORES_ALLOWED, 1.0);
    let diagnosis = check(&[light(), threads(level, 0.99, 0.9)], "svc.cpu", Certainty::Strong);
    assert!(ruled_out(&diagnosis, "svc.one-core").contains("may only use 1.0"));
    assert!(lever(&diagnosis, "svc.cores").helps);
}

#[test]
fn the_kernel_is_not_svc_cpu_and_own_code_is_not_svc_kernel() {
    let kernel = |share: f64| {
        let level = Level::new(Confirm, 400, 9000.0, 44.0);
        let level =
            quiet(level).see("host", HOST_BUSY, 1.2).see("gen", RUN, 0.2).see("svc", RUN, 0.98).see("db", RUN, 0.0);
        let level = level.see("svc", CPU_SYSTEM, 0.98 * share).see("svc", CPU_USER, 0.98 * (1.0 - share));
        waiting(level, 0.0, 0.5, 0.0).see("svc", CORES_ALLOWED, 1.0)
    };
    let diagnosis = check(&[light(), kernel(0.78)], "svc.kernel", Certainty::Strong);
    insta::assert_snapshot!(diagnosis.bottleneck.sentence, @"At 400 users uuid-api keeps all the CPU it may use busy, 0.98 of 1.0 cores, and 78 % of that is the kernel moving its requests and answers: 0.085 ms of 0.11 ms CPU per request, so at most 9,184/s. Fewer system calls, kept connections or more cores would move the line; faster code of its own hardly.");
    assert!(ruled_out(&diagnosis, "svc.cpu").contains("78 %"));
    let diagnosis = check(&[light(), kernel(0.4)], "svc.cpu", Certainty::Strong);
    assert!(ruled_out(&diagnosis, "svc.kernel").contains("40 %"));
}

#[test]
fn many_busy_threads_are_not_one_core() {
    let level = threads(compute(1000, 1050.0, (0.05, 0.02), (1.93, 2.1), 0.0), 0.99, 0.96);
    let diagnosis = check(&[light(), level], "svc.cpu", Certainty::Strong);
    assert!(ruled_out(&diagnosis, "svc.one-core").contains("no thread stands out"));
}

#[test]
fn a_starved_event_loop_is_contention_and_not_one_core() {
    let level = threads(compute(300, 2000.0, (0.9, 0.9), (0.36, 0.64), 0.72), 1.0, 0.36);
    let diagnosis = check(&[light(), level], "host.contention", Certainty::Strong);
    assert!(ruled_out(&diagnosis, "svc.one-core").contains("the machine is full"));
}

fn accepting(overflows: f64, queue: f64) -> Level {
    let level = compute(60, 20.0, (0.01, 0.0), (0.02, 0.0), 0.0).connecting(20.0, 2_900.0);
    level
        .see("svc", LISTEN_OVERFLOWS, overflows)
        .see("svc", LISTEN_QUEUE_MAX, queue)
        .see("svc", LISTEN_QUEUE, queue * 0.95)
        .see("svc", LISTEN_BACKLOG, 8.0)
}

#[test]
fn net_accept_when_the_kernel_turns_connections_away() {
    let level = accepting(50.0, 9.0).failing(0.3, "1211: dial: i/o timeout");
    let diagnosis = check(&[light(), level], "net.accept", Certainty::Proved);
    insta::assert_snapshot!(diagnosis.bottleneck.sentence, @"At 60 users the kernel turns away 50 connection attempts per second: the service asked for a queue of 8 and it is full. The service itself uses 0.02 of 2.0 cores; it takes 20 connections per second. Kept connections, or taking connections faster, would move the line; a longer queue only absorbs bursts.");
    assert!(!lever(&diagnosis, "net.backlog").helps, "a queue that is always full is not short of places");
    assert!(lever(&diagnosis, "gen.keepalive").helps);
}

#[test]
fn an_overflow_of_somebody_elses_queue_is_not_net_accept() {
    let level = accepting(0.8, 0.0).see("svc", LISTEN_QUEUE, 0.0);
    assert_ne!(last(&record(&[light(), level])).bottleneck.id, "net.accept");
}

#[test]
fn net_accept_although_others_fight_for_the_cores() {
    let noisy = |service_wait: f64| {
        let level = accepting(50.0, 9.0).failing(0.3, "1211: dial: i/o timeout");
        level.see("host", HOST_BUSY, 2.0).see("gen", RUN_WAIT, 0.4).see("svc", RUN_WAIT, service_wait)
    };
    check(&[light(), noisy(0.2)], "net.accept", Certainty::Proved);
    // A service that wants the cores and does not get them cannot accept: then the queue is the symptom.
    assert_ne!(last(&record(&[light(), noisy(1.5)])).bottleneck.id, "net.accept");
}

#[test]
fn net_accept_when_the_queue_is_full_but_nobody_is_turned_away_yet() {
    let level = Level::new(Confirm, 9, 20.0, 450.0).connecting(20.0, 0.1);
    let level = busy(level, 0.1, 0.01, 0.02, 0.0).see("svc", LISTEN_OVERFLOWS, 0.0).see("svc", LISTEN_BACKLOG, 8.0);
    let level = waiting(level, 0.0, 0.0, 0.0).see("svc", LISTEN_QUEUE, 7.6).see("svc", LISTEN_QUEUE_MAX, 8.0);
    let diagnosis = check(&[light(), level], "net.accept", Certainty::Strong);
    assert!(
        diagnosis.bottleneck.sentence.contains("7.6 connections wait to be accepted all the time, in a queue of 8")
    );
    assert!(lever(&diagnosis, "svc.accept.rate").helps && !lever(&diagnosis, "net.backlog").helps);
}

#[test]
fn a_run_without_promises_and_without_a_full_station_was_not_limited() {
    let mut record = record(&[compute(100, 900.0, (0.1, 0.0), (0.3, 0.0), 0.0)]);
    record.plan.as_mut().unwrap().promises.clear();
    record.windows.iter_mut().for_each(|window| window.promises.clear());
    let diagnosis = last(&record);
    assert_eq!(diagnosis.bottleneck.id, "pattern.none");
    assert!(diagnosis.bottleneck.sentence.starts_with("Nothing that was watched limited this run: 100 users, 900/s"));
}

#[test]
fn a_wait_inside_the_service_is_a_floor_that_neither_cores_nor_code_lower() {
    let level = busy(Level::new(Baseline, 1, 1.0, 702.0), 0.05, 0.0, 0.01, 0.0);
    let diagnosis = check(&[level], "pattern.floor", Certainty::Proved);
    assert!(lever(&diagnosis, "svc.hold.time").helps);
    assert!(["svc.cores", "svc.workers", "svc.cpu.cost"].iter().all(|id| !lever(&diagnosis, id).helps));
}

#[test]
fn a_queue_without_overflow_is_not_net_accept() {
    let diagnosis = last(&record(&[light(), accepting(0.0, 4.0)]));
    assert_ne!(diagnosis.bottleneck.id, "net.accept");
    assert!(ruled_out(&diagnosis, "net.accept").contains("at most 4.0 of 8 places"));
}

#[test]
fn an_overflow_in_front_of_a_stuck_service_is_its_symptom() {
    let level = compute(1000, 1050.0, (0.05, 0.02), (1.93, 2.1), 0.0);
    let level =
        level.see("svc", LISTEN_OVERFLOWS, 20.0).see("svc", LISTEN_QUEUE_MAX, 9.0).see("svc", LISTEN_BACKLOG, 8.0);
    let diagnosis = check(&[light(), level], "svc.cpu", Certainty::Strong);
    assert!(ruled_out(&diagnosis, "net.accept").contains("something deeper"));
}

#[test]
fn a_machine_that_others_keep_busy_stops_nobody_who_is_served_as_quickly_as_ever() {
    let noisy = |level: Level| level.see("host", HOST_BUSY, 1.9).see("gen", RUN_WAIT, 0.05).see("svc", RUN_WAIT, 0.05);
    let level = |users, rate| noisy(busy(Level::new(Probe, users, rate, 52.0), 0.1, 0.02, 0.02, 0.0));
    let diagnosis =
        last(&record(&[noisy(busy(Level::new(Baseline, 1, 19.5, 51.0), 0.1, 0.02, 0.02, 0.0)), level(8, 153.0)]));
    assert_eq!(diagnosis.bottleneck.id, "pattern.none", "{:?}", diagnosis.bottleneck);
}

#[test]
fn pattern_floor_when_one_user_is_too_slow() {
    let level = busy(Level::new(Baseline, 1, 1.4, 702.0), 0.05, 0.0, 0.01, 0.0).see("db", PG_ACTIVE_OTHER, 0.695).see(
        "db",
        PG_ACTIVE_CPU,
        0.0,
    );
    let diagnosis = check(&[level], "pattern.floor", Certainty::Proved);
    insta::assert_snapshot!(diagnosis.bottleneck.sentence, @"No load is to blame: a single user already waits 702 ms where 500 ms were promised. Its mean 702 ms are 695 ms in the database and 0 ms unexplained. There is no queue to shorten; the request itself must get faster.");
    assert!(lever(&diagnosis, "db.query.time").helps && !lever(&diagnosis, "svc.cores").helps);
}

#[test]
fn a_floor_of_failures_is_not_called_slow() {
    let level = busy(Level::new(Baseline, 1, 100.0, 2.0), 0.05, 0.0, 0.01, 0.0).failing(1.0, "status 500");
    let diagnosis = check(&[level], "pattern.floor", Certainty::Proved);
    insta::assert_snapshot!(diagnosis.bottleneck.sentence, @"No load is to blame: a single user already breaks `http_req_failed: rate<0.01`: 100 % of its requests failed with `status 500`. What is asked for, or the service that answers, must be put right before its capacity can be found.");
    assert!(diagnosis.levers.is_empty(), "{:#?}", diagnosis.levers);
}

#[test]
fn a_generator_without_files_is_neither_the_service_nor_short_of_cpu() {
    let level = busy(Level::new(Confirm, 64, 5000.0, 1.0), 0.2, 0.1, 0.1, 0.0);
    let level = level.failing(0.9, "1210 dial: this machine's limit of open files is reached");
    let diagnosis = check(&[light(), level], "unknown", Certainty::Unknown);
    insta::assert_snapshot!(diagnosis.bottleneck.sentence, @"At 64 users the load generator was the limit (it looks like gen.fd or gen.ports), not the service: 45,000 of 50,000 requests failed: 1210 dial: this machine's limit of open files is reached. Give it more (ulimit -n, net.ipv4.ip_local_port_range), or another machine.");
    assert_eq!(diagnosis.bottleneck.subject, "plimsoll");
    assert!(ruled_out(&diagnosis, "gen.cpu").contains("more CPU does not cure"));
}

#[test]
fn slow_at_many_users_is_not_a_floor() {
    let diagnosis = last(&record(&[light(), compute(1000, 1050.0, (0.05, 0.02), (1.93, 2.1), 0.0)]));
    assert!(ruled_out(&diagnosis, "pattern.floor").contains("1 user got answers in 22 ms"), "{diagnosis:#?}");
}

#[test]
fn pattern_none_when_nothing_is_full_and_rate_follows_users() {
    let probe = |phase, users: u64, cpu: f64| {
        busy(Level::new(phase, users, users as f64 * 4.8, 21.0).in_flight(users as f64 * 0.1), cpu * 2.0, cpu, cpu, 0.0)
    };
    let diagnosis =
        check(&[light(), probe(Probe, 40, 0.05), probe(Confirm, 200, 0.25)], "pattern.none", Certainty::Strong);
    insta::assert_snapshot!(diagnosis.bottleneck.sentence, @"The wall was not reached: at 200 users the promise holds with 22 ms (90th percentile) at 960/s, and the throughput still grows with the users; the fullest station seen is this machine (host.contention) at 25 %. The service carries at least this many.");
}

#[test]
fn a_broken_promise_is_never_pattern_none() {
    let diagnosis = check(&[light(), compute(500, 700.0, (0.1, 0.0), (0.2, 0.0), 0.0)], "unknown", Certainty::Unknown);
    assert!(ruled_out(&diagnosis, "pattern.none").contains("100 %"));
    insta::assert_snapshot!(diagnosis.bottleneck.sentence, @"At 500 users nothing that was watched is full, and 714 ms (100 %) of the mean 714 ms per request is unexplained. Its own queues were not seen: --watch metrics:http://HOST/metrics shows pools, threads and limits.");
}

#[test]
fn without_any_probe_the_answer_is_unknown_and_says_what_is_missing() {
    let diagnosis = check(
        &[Level::new(Baseline, 1, 47.0, 21.0), Level::new(Confirm, 500, 700.0, 714.0)],
        "unknown",
        Certainty::Unknown,
    );
    assert!(diagnosis.bottleneck.sentence.contains("could not be watched"));
    assert!((diagnosis.time_budget_ms["unexplained"] - 714.0).abs() < 2.0);
}

#[test]
fn a_service_that_died_is_said_to_have_died() {
    let level = compute(100, 500.0, (0.05, 0.0), (0.1, 0.0), 0.0).failing(1.0, "1212: dial: connection refused").see(
        "svc",
        CGROUP_OOM_KILLS,
        0.1,
    );
    let diagnosis = check(&[light(), level], "unknown", Certainty::Unknown);
    assert!(diagnosis.bottleneck.sentence.contains("looks like svc.oom"), "{}", diagnosis.bottleneck.sentence);
}

#[test]
fn a_step_without_a_single_answer_is_no_error() {
    let level = busy(Level::new(Confirm, 50, 0.0, 0.0), 1.9, 0.1, 1.8, 0.0).in_flight(50.0);
    let level = level.see("svc", DB_SOCKETS, 5.0).see("db", PG_ACTIVE_OTHER, 5.0).see("svc", LISTEN_OVERFLOWS, 3.0);
    let diagnosis = last(&record(&[light(), level]));
    let numbers = diagnosis.bottleneck.evidence.iter().map(|proof| proof.value);
    assert!(numbers.chain(diagnosis.time_budget_ms.values().copied()).all(f64::is_finite), "{diagnosis:#?}");
    assert!(!diagnosis.bottleneck.sentence.contains("NaN"), "{}", diagnosis.bottleneck.sentence);
}

#[test]
fn a_record_without_anything_is_no_error() {
    let empty = RunRecord::default();
    let verdict = crate::verdict(
        &empty,
        &crate::search::Search::new(crate::search::Settings::default()),
        std::time::Duration::ZERO,
    );
    assert_eq!((verdict.bottleneck.id.as_str(), verdict.steps.len()), ("unknown", 0));
    assert_eq!(suspect(&empty, Interval::default()), None);
}

#[test]
fn the_suspect_of_the_moment_is_the_full_station() {
    let record = record(&[light(), compute(1000, 1050.0, (0.05, 0.02), (1.93, 2.1), 0.0)]);
    let last = record.steps[1].measured;
    assert_eq!(suspect(&record, last), Some(("svc.cpu".to_owned(), "uuid-api runs on 1.9 of 2.0 cores".to_owned())));
    assert_eq!(suspect(&record, record.steps[0].measured), None);
}

#[test]
fn every_rule_has_its_page() {
    let pages = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/bottlenecks"));
    for rule in RULES {
        let page = std::fs::read_to_string(pages.join(format!("{}.md", rule.id))).unwrap_or_default();
        for part in ["## How we know", "## Look-alikes", "## Levers", "## Provoke it"] {
            assert!(page.contains(part), "docs/bottlenecks/{}.md has no part `{part}`", rule.id);
        }
    }
}
