//! Steps drawn by hand, judged.

use model::signal::*;
use model::verdict::Phase::Confirm;

use super::*;
use crate::sketch::{Level, record};

fn only(level: Level) -> StepFacts {
    let record = record(&[level]);
    measure(&record, &record.steps[0])
}

fn generator(level: Level, run: f64, wait: f64) -> Level {
    level.see("gen", CORES_ALLOWED, 2.0).see("gen", RUN, run).see("gen", RUN_WAIT, wait)
}

#[test]
fn a_step_sums_up_its_windows() {
    let facts = only(generator(Level::new(Confirm, 50, 236.0, 211.0), 0.1, 0.01));
    let step = facts.to_step();
    assert_eq!((step.requests, step.failed, step.duration_s, step.users), (2360, 0, 10.0, 50));
    assert!((step.rate_per_s - 236.0).abs() < 1e-9 && (step.latency_ms.avg - 211.0).abs() < 0.5);
    assert!((facts.think_s.unwrap() - 0.0008).abs() < 0.001, "{:?}", facts.think_s);
    assert!((step.generator.cpu_cores - 0.1).abs() < 1e-9);
    assert_eq!((step.promise, step.generator.gate), (Judgement::Pass, Gate::Green));
    assert!(facts.caveats.is_empty(), "{:?}", facts.caveats);
}

#[test]
fn think_time_is_what_neither_waits_for_an_answer_nor_for_a_connection() {
    let facts = only(Level::new(Confirm, 100, 80.0, 200.0).connecting(80.0, 80.0));
    assert!((facts.think_s.unwrap() - 0.97).abs() < 0.001, "{:?}", facts.think_s);
    assert!(facts.caveats.iter().any(|caveat| caveat.contains("http_req_duration does not count that")));
}

#[test]
fn promises_are_judged_by_the_share_that_breaks_them() {
    let check = |level: Level, expected, worst: &str| {
        let facts = only(level);
        assert_eq!(facts.promise, expected, "{:?}", facts.promises);
        assert_eq!(facts.worst().unwrap().text, worst);
    };
    check(Level::new(Confirm, 50, 100.0, 490.0), Judgement::Fail, "http_req_duration: p(90)<500");
    check(Level::new(Confirm, 50, 100.0, 460.0), Judgement::Pass, "http_req_duration: p(90)<500");
    // 2 % failures: below the 10 % that may be slow, above the 1 % that may fail.
    check(Level::new(Confirm, 50, 100.0, 100.0).failing(0.02, "1050"), Judgement::Fail, "http_req_failed: rate<0.01");
    // 1 % exactly cannot be decided.
    check(
        Level::new(Confirm, 50, 100.0, 100.0).failing(0.01, "1050"),
        Judgement::Undecided,
        "http_req_failed: rate<0.01",
    );
}

#[test]
fn few_samples_decide_nothing_unless_they_all_agree() {
    assert_eq!(only(Level::new(Confirm, 1, 2.0, 100.0)).promise, Judgement::Undecided);
    assert_eq!(only(Level::new(Confirm, 1, 1.0, 900.0)).promise, Judgement::Fail);
    let facts = only(Level::new(Confirm, 1, 10.0, 100.0));
    assert_eq!(facts.promise, Judgement::Pass);
    assert!(facts.caveats[0].contains("only enough to claim less than 4 %"), "{:?}", facts.caveats);
    assert_eq!(only(Level::new(Confirm, 1, 0.0, 1.0)).promise, Judgement::Undecided);
}

#[test]
fn a_promise_that_cannot_be_counted_is_said_and_not_ignored() {
    let mut record = record(&[Level::new(Confirm, 5, 100.0, 50.0)]);
    record.plan.as_mut().unwrap().promises[0] = "http_req_duration: avg<200".parse().unwrap();
    let facts = measure(&record, &record.steps[0]);
    assert!(facts.caveats[0].contains("`http_req_duration: avg<200` is not judged"), "{:?}", facts.caveats);
}

#[test]
fn requests_that_pile_up_are_an_overload() {
    let mut record = record(&[Level::new(Confirm, 50, 100.0, 100.0)]);
    for (index, window) in record.windows.iter_mut().enumerate() {
        window.in_flight_mean = 10.0 + 3.0 * index as f64;
    }
    let facts = measure(&record, &record.steps[0]);
    assert!(facts.overload);
    assert_eq!(facts.promise, Judgement::Undecided, "the shares alone say nothing while a queue builds up");
    record.windows.iter_mut().for_each(|window| window.in_flight_mean = 10.0);
    assert!(!measure(&record, &record.steps[0]).overload);
}

#[test]
fn requests_that_make_more_than_were_under_way_decide_nothing() {
    let mut record = record(&[Level::new(Confirm, 50, 1000.0, 50.0)]);
    assert!((measure(&record, &record.steps[0]).answered - 50.0).abs() < 0.5);
    record.windows.iter_mut().for_each(|window| window.in_flight_mean = 45.0);
    let facts = measure(&record, &record.steps[0]);
    assert_eq!((facts.promise, facts.unanswered), (Judgement::Undecided, None));
    assert!(facts.caveats.iter().any(|caveat| caveat.contains("Little's law does not hold")), "{:?}", facts.caveats);
}

#[test]
fn a_request_takes_no_more_of_a_step_than_had_passed_of_it() {
    let mut record = record(&[Level::new(Confirm, 105, 1000.0, 50.0).silent(55)]);
    // A hundred users who had waited since long before the step, answered in its middle.
    (0..100).for_each(|_| record.windows[5].requests.duration.record_ms(17_000.0));
    let facts = measure(&record, &record.steps[0]);
    assert!((facts.answered - 105.0).abs() < 1.0, "{}", facts.answered);
    assert_eq!((facts.promise, facts.unanswered, facts.overload), (Judgement::Pass, None, false));
}

#[test]
fn users_without_an_answer_are_counted_and_break_what_was_promised_to_them() {
    let facts = only(Level::new(Confirm, 60, 1000.0, 50.0).silent(10));
    assert!((facts.unanswered.unwrap() - 10.0).abs() < 0.5, "{:?}", facts.unanswered);
    assert_eq!((facts.promise, facts.overload), (Judgement::Fail, false));
    let worst = facts.worst().unwrap();
    assert_eq!(worst.text, "http_req_duration: p(90)<500");
    assert!((worst.share - 10.0 / 60.0).abs() < 0.01, "{worst:?}");
    assert!(!facts.promises[1].share.is_sign_negative() && facts.promises[1].share == 0.0, "they did not fail");
    insta::assert_snapshot!(facts.caveats[0], @"about 10 of 60 users got no answer for longer than the step (10 s); they are in no response time, but the promise on it counts them as broken");
}

#[test]
fn users_who_think_are_not_users_who_wait() {
    // Of a hundred 96 think, each for five steps and more.
    let mut record = record(&[Level::new(Confirm, 100, 80.0, 50.0)]);
    record.windows.iter_mut().for_each(|window| window.iteration_duration.clear());
    let facts = measure(&record, &record.steps[0]);
    assert_eq!((facts.promise, facts.unanswered), (Judgement::Pass, None));
}

#[test]
fn a_few_users_without_an_answer_void_nothing() {
    let facts = only(Level::new(Confirm, 60, 1000.0, 50.0).silent(4));
    assert_eq!((facts.promise, facts.overload), (Judgement::Pass, false));
    assert!(facts.caveats[0].starts_with("about 4 of 60 users got no answer"), "{:?}", facts.caveats);
    let facts = only(Level::new(Confirm, 60, 1000.0, 50.0).silent(1));
    assert_eq!((facts.unanswered, facts.caveats.len()), (None, 0), "less than can be told from chance");
}

#[test]
fn a_promise_longer_than_the_step_is_not_broken_by_waiting_for_the_step() {
    let mut record = record(&[Level::new(Confirm, 60, 1000.0, 50.0).silent(10)]);
    record.plan.as_mut().unwrap().promises[0] = "http_req_duration: p(90)<20000".parse().unwrap();
    let facts = measure(&record, &record.steps[0]);
    assert_eq!((facts.promise, facts.promises[0].share), (Judgement::Pass, 0.0));
    record.plan.as_mut().unwrap().promises[0] = "http_req_duration{name:login}: p(90)<500".parse().unwrap();
    let facts = measure(&record, &record.steps[0]);
    assert_eq!(facts.promises[0].share, 0.0, "whose request it is that gets no answer is not known");
}

#[test]
fn those_who_only_wait_to_leave_are_not_this_steps_users() {
    let mut record = record(&[Level::new(Confirm, 50, 1000.0, 50.0)]);
    record.windows.iter_mut().for_each(|window| (window.active_mean, window.in_flight_mean) = (60.0, 60.0));
    let facts = measure(&record, &record.steps[0]);
    assert_eq!((facts.promise, facts.unanswered), (Judgement::Pass, None));
}

#[test]
fn those_who_could_leave_within_the_step_hide_nobody_who_is_silent() {
    let mut record = record(&[Level::new(Confirm, 60, 1000.0, 50.0).silent(10)]);
    for (window, leaving) in record.windows.iter_mut().zip([10.0, 10.0, 10.0, 10.0, 10.0, 5.0, 0.0, 0.0, 0.0, 0.0]) {
        (window.active_mean, window.in_flight_mean) = (60.0 + leaving, 60.0 + leaving);
    }
    (0..10).for_each(|_| record.windows[5].requests.duration.record_ms(17_000.0));
    let facts = measure(&record, &record.steps[0]);
    assert!((facts.unanswered.unwrap() - 10.0).abs() < 2.0, "{:?}", facts.unanswered);
    assert_eq!(facts.promise, Judgement::Fail);
}

#[test]
fn users_without_any_answer_are_an_overload_however_well_the_others_fare() {
    let facts = only(Level::new(Confirm, 110, 1000.0, 60.0).silent(50));
    assert!(facts.overload && facts.promise == Judgement::Fail);
    assert!(facts.caveats[0].contains("about 50 of 110 users got no answer"), "{:?}", facts.caveats);
}

#[test]
fn what_leaves_must_have_entered() {
    let mut record = record(&[Level::new(Confirm, 50, 1000.0, 50.0)]);
    record.windows.iter_mut().for_each(|window| window.requests.started += 100);
    let facts = measure(&record, &record.steps[0]);
    assert!(facts.caveats.iter().any(|caveat| caveat.contains("it was not steady")), "{:?}", facts.caveats);
}

#[test]
fn every_reason_makes_the_gate_red_and_says_why() {
    let check = |level: Level, because: &str| {
        let facts = only(level);
        assert_eq!(facts.generator.gate, Gate::Red, "{because}");
        assert!(facts.gate_because.join(" ").contains(because), "{:?}", facts.gate_because);
    };
    let level = || Level::new(Confirm, 50, 100.0, 200.0);
    check(generator(level(), 1.2, 0.7), "was never idle");
    check(level().late(26.0), "26 ms late");
    check(level().unread(0.25), "25 % of the answers");
    check(level().see("gen", PORTS_USED, 28_000.0).see("gen", PORTS_LIMIT, 28_232.0), "28,000 of 28,232 local ports");
    let cause = "1210 dial: this machine's limit of open files is reached";
    check(level().failing(0.5, cause), "500 of 1,000 requests failed: 1210 dial: this machine's limit");
    check(level().see("gen", FDS, 1020.0).see("gen", FDS_LIMIT, 1024.0), "file descriptors");
    assert!(only(generator(level().late(24.0).unread(0.1), 1.0, 0.5)).is_green());
}

#[test]
fn lateness_is_measured_against_what_it_could_explain() {
    assert!(only(Level::new(Confirm, 900, 300.0, 3000.0).late(60.0)).is_green());
    assert!(!only(Level::new(Confirm, 900, 300.0, 300.0).late(60.0)).is_green());
}

#[test]
fn a_share_of_next_to_nothing_is_no_answer_left_unread() {
    assert!(only(Level::new(Confirm, 1, 11_494.0, 0.087).unread(0.3)).is_green());
    assert!(!only(Level::new(Confirm, 1_000, 40_000.0, 25.0).unread(0.3)).is_green());
}
