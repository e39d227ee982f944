//! The search against simulated services whose capacity is known, over many seeds.

mod bench;

use bench::{Bench, System, search};
use model::verdict::CapacityState;

use super::*;

/// The laptop of the story in a few systems: name, service, promise (p90, ms), true capacity, tolerance of the median
/// and of the worst error. The truths come from [`truths_are_true`].
const SYSTEMS: [(&str, System, f64, u64, f64, f64); 7] = [
    ("pool 5 x 20 ms", System { servers: 5, service_s: 0.020, cv: 0.1, ..System::EMPTY }, 500.0, 124, 0.03, 0.08),
    ("4 cores x 20 ms", System { servers: 4, service_s: 0.020, cv: 1.0, ..System::EMPTY }, 100.0, 14, 0.08, 0.15),
    ("32 x 100 ms, cv 1.5", System { servers: 32, service_s: 0.100, cv: 1.5, ..System::EMPTY }, 500.0, 117, 0.06, 0.15),
    ("one thread 30 ms", System { servers: 1, service_s: 0.030, cv: 1.0, ..System::EMPTY }, 500.0, 12, 0.10, 0.25),
    (
        "collapsing",
        System { servers: 4, service_s: 0.020, cv: 1.0, slows: 0.005, ..System::EMPTY },
        500.0,
        64,
        0.05,
        0.15,
    ),
    (
        "think 1 s",
        System { servers: 5, service_s: 0.020, cv: 0.5, think_s: 1.0, ..System::EMPTY },
        500.0,
        350,
        0.04,
        0.08,
    ),
    ("compute only", System { servers: 2, service_s: 0.0004, cv: 0.5, ..System::EMPTY }, 50.0, 240, 0.04, 0.10),
];

const SEEDS: std::ops::Range<u64> = 1..7;

#[test]
fn truths_are_true() {
    for (name, system, limit_ms, truth, ..) in SYSTEMS {
        let seen = bench::true_capacity(system, limit_ms);
        let off = (seen as f64 / truth as f64 - 1.0).abs();
        println!("{name}: {seen}");
        assert!(off <= 0.03 || seen.abs_diff(truth) <= 1, "{name}: {seen} is not {truth}");
    }
}

#[test]
fn capacities_are_found_within_tolerance_and_budget() {
    println!("| system | truth | median error | worst error | median time | worst time |");
    let mut wrong = Vec::new();
    for (name, system, limit_ms, truth, median_tolerance, worst_tolerance) in SYSTEMS {
        let (mut errors, mut times, mut open) = (Vec::new(), Vec::new(), Vec::new());
        for seed in SEEDS {
            let end = search(system, limit_ms, seed, Settings::default());
            let off = (end.capacity.users as f64 / truth as f64 - 1.0).abs();
            if end.capacity.state != CapacityState::Found {
                open.push(format!("{name} seed {seed}: {:?}", end.capacity));
            }
            errors.push(off);
            times.push(end.elapsed_s);
        }
        // One in six may end with a range instead of a number: 33 answers a second say little in three minutes.
        if open.len() > 1 {
            wrong.append(&mut open);
        }
        errors.sort_by(f64::total_cmp);
        times.sort_by(f64::total_cmp);
        let (median, worst) = (errors[errors.len() / 2], errors[errors.len() - 1]);
        let (time, longest) = (times[times.len() / 2], times[times.len() - 1]);
        println!("| {name} | {truth} | {:.1} % | {:.1} % | {time:.0} s | {longest:.0} s |", median * 1e2, worst * 1e2);
        if median > median_tolerance || worst > worst_tolerance || longest > 181.0 {
            wrong.push(format!("{name}: median {median:.3}, worst {worst:.3}, {longest:.0} s"));
        }
    }
    assert!(wrong.is_empty(), "seeds {SEEDS:?}: {wrong:#?}");
}

#[test]
fn the_quick_search_answers_in_half_the_time() {
    let (_, system, limit_ms, truth, ..) = SYSTEMS[0];
    for seed in SEEDS {
        let settings = Settings { quick: true, ..Settings::default() };
        let end = search(system, limit_ms, seed, settings);
        assert!(end.elapsed_s <= 91.0, "seed {seed}: {} s", end.elapsed_s);
        assert!((end.capacity.users as f64 / truth as f64 - 1.0).abs() < 0.12, "seed {seed}: {:?}", end.capacity);
    }
}

#[test]
fn a_service_that_is_too_slow_for_one_user_is_a_floor() {
    let end = search(System { servers: 4, service_s: 0.7, cv: 0.1, ..System::EMPTY }, 500.0, 1, Settings::default());
    assert_eq!((end.capacity.state, end.capacity.users), (CapacityState::Floor, 0));
    assert_eq!(end.capacity.broken_by.as_deref(), Some("http_req_duration: p(90)<500"));
    assert!(end.elapsed_s < 30.0);
}

#[test]
fn a_wall_that_is_not_reached_is_an_at_least() {
    let endless = System { servers: u64::MAX, service_s: 0.010, cv: 0.3, think_s: 0.2, ..System::EMPTY };
    let end = search(endless, 500.0, 1, Settings { users_max: 800, ..Settings::default() });
    assert_eq!((end.capacity.state, end.capacity.users), (CapacityState::AtLeast, 800));
    assert_eq!((end.capacity.users_high, end.capacity.broken_by), (None, None));
    let confirmed = end.record.steps.last().unwrap();
    assert_eq!((confirmed.phase, confirmed.users), (Phase::Confirm, 800));
}

#[test]
fn a_generator_at_its_limit_makes_an_at_least() {
    let system = System { servers: 50, service_s: 0.020, cv: 0.3, generator_users: 40, ..System::EMPTY };
    let end = search(system, 500.0, 1, Settings::default());
    assert_eq!(end.capacity.state, CapacityState::GeneratorLimited);
    // Fifty servers of 20 ms carry 1,250 users in 500 ms: what held, held, and what broke may be the generator's fault.
    assert!((1000..=1250).contains(&end.capacity.users), "{:?}", end.capacity);
    assert_eq!(end.capacity.users_high, None);
    assert!(end.record.steps.iter().all(|step| step.users <= 2600), "it goes no further than it must");
}

#[test]
fn users_that_are_never_let_in_are_not_carried() {
    // The promise leaves out one in ten, so the thirty that are let in may leave three outside. All who are let in are
    // answered within 120 ms.
    let system = System { servers: 5, service_s: 0.020, cv: 0.1, places: 30, ..System::EMPTY };
    for seed in SEEDS {
        let end = search(system, 500.0, seed, Settings::default());
        assert!((30..=34).contains(&end.capacity.users), "seed {seed}: {:?}", end.capacity);
        assert_eq!(end.capacity.state, CapacityState::Found, "seed {seed}");
        assert_eq!(end.capacity.broken_by.as_deref(), Some("http_req_duration: p(90)<500"), "seed {seed}");
        let over = end.record.steps.iter().map(|span| crate::step::measure(&end.record, span));
        let over = over.filter(|facts| facts.span.users >= 40 && facts.span.phase != Phase::Return);
        for facts in over {
            let outside = facts.span.users as f64 - 30.0;
            assert!((facts.unanswered.unwrap() - outside).abs() < 1.5, "seed {seed}: {facts:?}");
        }
    }
}

#[test]
fn a_service_that_dies_ends_the_search_with_what_was_learnt() {
    let system = System { servers: 5, service_s: 0.020, cv: 0.1, dies_above: 50, ..System::EMPTY };
    let end = search(system, 500.0, 1, Settings::default());
    assert_eq!(end.capacity.state, CapacityState::Crashed);
    assert!((16..=50).contains(&end.capacity.users), "{:?}", end.capacity);
    assert!(end.capacity.users_high.unwrap() > 50);
}

#[test]
fn the_step_that_would_kill_is_not_taken() {
    let system = System {
        servers: 50,
        service_s: 0.020,
        cv: 0.1,
        bytes_per_user: 5e6,
        bytes_limit: 512e6,
        dies_above: 100,
        ..System::EMPTY
    };
    let end = search(system, 500.0, 1, Settings::default());
    assert_eq!(end.capacity.state, CapacityState::AtLeast);
    assert!((80..=93).contains(&end.capacity.users), "{:?}", end.capacity);
    let warning = outcome::caveats(&end.record, &end.capacity, Settings::default()).join(" ");
    assert!(warning.contains("each user under way holds 5.0 MB"), "{warning}");
    let end = search(system, 500.0, 1, Settings { allow_crash: true, ..Settings::default() });
    assert_eq!(end.capacity.state, CapacityState::Crashed);
}

#[test]
fn a_search_that_was_cut_off_keeps_its_range() {
    let (_, system, limit_ms, truth, ..) = SYSTEMS[0];
    let mut end = search(system, limit_ms, 3, Settings::default());
    end.record.steps.truncate(5);
    let capacity = Search::new(Settings::default()).capacity(&end.record);
    assert!(matches!(capacity.state, CapacityState::Undecided | CapacityState::AtLeast), "{capacity:?}");
    assert!(capacity.users_low <= truth, "{capacity:?}");
    assert_eq!(Search::new(Settings::default()).capacity(&RunRecord::default()).state, CapacityState::Undecided);
}

#[test]
fn every_search_ends_with_over_and_return() {
    let (_, system, limit_ms, ..) = SYSTEMS[0];
    let end = search(system, limit_ms, 2, Settings::default());
    let phases: Vec<_> = end.record.steps.iter().map(|step| step.phase).collect();
    assert_eq!(phases[0], Phase::Baseline);
    assert_eq!(phases[phases.len() - 3..], [Phase::Confirm, Phase::Over, Phase::Return], "{phases:?}");
    let confirm = end.record.steps.iter().position(|step| step.phase == Phase::Confirm).unwrap();
    assert!(end.record.steps[confirm - 1].users > end.record.steps[confirm].users, "approached from above");
    let mut bench = Bench::new(system, 100.0, 1);
    bench.run(4, 1.0, 3.0, Phase::Probe);
    assert!(Bracket::new(&bench.record).last().is_some_and(|seen| seen.below));
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { cases: 12, ..proptest::test_runner::Config::default() })]

    /// Whatever the service: the search ends in time, never asks for more users than allowed, and its range is one.
    #[test]
    fn any_service_gets_an_answer(
        servers in 1u64..40,
        service_ms in 5.0..200.0f64,
        cv in 0.0..2.0f64,
        think_s in 0.0..1.0f64,
        slows in 0.0..0.01f64,
        seed in 0u64..1000,
    ) {
        let system = System { servers, service_s: service_ms / 1e3, cv, think_s, slows, ..System::EMPTY };
        let settings = Settings { users_max: 300, ..Settings::default() };
        let end = search(system, 300.0, seed, settings);
        proptest::prop_assert!(end.elapsed_s <= 181.0, "{} s", end.elapsed_s);
        proptest::prop_assert!(end.record.steps.iter().all(|step| (1..=300).contains(&step.users)));
        let capacity = end.capacity;
        let high = capacity.users_high.unwrap_or(u64::MAX);
        proptest::prop_assert!(capacity.users_low <= capacity.users && capacity.users <= high, "{capacity:?}");
    }
}
