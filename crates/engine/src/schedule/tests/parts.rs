//! Parts of a test, the users that a plan needs, and what was planned against what was done.

use super::*;

#[test]
fn users_that_the_plan_names_work_to_the_end_of_their_time() {
    let executor = Executor::ExternallyControlled { vus: 3, max_vus: 6, duration: Some(SECOND * 4) };
    let outcome = Simulation::of(executor).steer(sleeps(Duration::from_millis(500)), async |control| {
        tokio::time::sleep(SECOND * 2).await;
        control.set_users(5);
    });
    assert_eq!((outcome.reason.clone(), outcome.ready), (EndReason::Completed, Some(3)));
    assert_eq!(outcome.users()[..3], [3, 3, 5]);
    assert!(outcome.length < SECOND * 5, "{:?}", outcome.length);
    assert!(outcome.begun.iter().all(|begun| begun.at <= SECOND * 4 + Duration::from_millis(2)));
}

#[test]
fn one_ramp_goes_on_with_the_users_of_another() {
    let ramp = |start_vus: u32, target: u32| {
        let stages = vec![Stage { duration: SECOND * 2, target }];
        let executor = Executor::RampingVus { start_vus, stages, graceful_ramp_down: Duration::ZERO };
        Scenario { graceful_stop: Duration::ZERO, ..scenario(executor) }
    };
    let iterations = |start: Duration| {
        let executor = Executor::PerVuIterations { vus: 3, iterations: 1, max_duration: SECOND * 600 };
        Scenario { start_time: start, ..scenario(executor) }
    };
    let needed = |scenarios: Vec<Scenario>, workers: usize| {
        let plan = plan(scenarios);
        (0..workers).map(|worker| users_needed(&plan, worker, workers)).sum::<u32>()
    };
    // All three observed in k6.
    assert_eq!(needed(vec![iterations(Duration::ZERO), iterations(SECOND)], 1), 6);
    assert_eq!(needed(vec![ramp(4, 0), ramp(0, 4)], 1), 4);
    let all = || vec![iterations(Duration::ZERO), iterations(SECOND), ramp(4, 0), ramp(0, 4)];
    assert_eq!(needed(all(), 1), 10);
    assert!((10..=12).contains(&needed(all(), 2)), "a worker may need one more than its part");
}

/// All parts of a sequence: what each of them does, one after the other.
fn in_parts(executor: &Executor, sequence: &str, length: Duration) -> Vec<Outcome> {
    let bounds: Vec<&str> = sequence.split(',').collect();
    let part = |pair: &[&str]| {
        let mut simulation = Simulation::of(executor.clone());
        let segment = format!("{}:{}", pair[0], pair[1]);
        simulation.plan.segment = Segment::parse(Some(&segment), Some(sequence)).unwrap();
        simulation.run(sleeps(length))
    };
    bounds.windows(2).map(part).collect()
}

#[test]
fn the_parts_of_a_sequence_do_exactly_what_the_whole_does() {
    let stages = vec![Stage { duration: SECOND * 2, target: 9 }, Stage { duration: SECOND * 2, target: 0 }];
    let ramp = Executor::RampingVus { start_vus: 1, stages: stages.clone(), graceful_ramp_down: SECOND };
    let rise =
        Executor::RampingArrivalRate { start_rate: 3, time_unit: SECOND, stages, pre_allocated_vus: 30, max_vus: 30 };
    for executor in [
        Executor::SharedIterations { vus: 7, iterations: 11, max_duration: SECOND * 60 },
        Executor::PerVuIterations { vus: 7, iterations: 3, max_duration: SECOND * 60 },
        Executor::ConstantVus { vus: 10, duration: SECOND * 3 },
        Executor::ExternallyControlled { vus: 10, max_vus: 10, duration: Some(SECOND * 3) },
        ramp,
        arrivals(7.0, 20, 20),
        rise,
    ] {
        let whole = Simulation::of(executor.clone()).run(sleeps(SECOND / 4));
        let parts = in_parts(&executor, "0,1/3,1/2,1", SECOND / 4);
        let users = |outcome: &Outcome| outcome.ready.unwrap();
        assert_eq!(parts.iter().map(users).sum::<u32>(), users(&whole), "users of {executor:?}");
        if matches!(executor, Executor::SharedIterations { .. }) {
            assert_eq!(parts.iter().map(Outcome::iterations).sum::<u64>(), 11);
            continue;
        }
        let mut starts: Vec<u64> = parts.iter().flat_map(Outcome::starts_ms).collect();
        starts.sort_unstable();
        assert_eq!(starts, whole.starts_ms(), "iterations of {executor:?}");
    }
}

#[test]
fn the_response_time_of_an_iteration_counts_from_when_it_was_planned() {
    let trend = |outcome: &Outcome, name: &str| match outcome.summary.metrics.get(name).map(|metric| &metric.total) {
        Some(Total::Trend(trend)) => trend.max(),
        other => panic!("{name}: {other:?}"),
    };
    let on_time = Simulation::of(arrivals(10.0, 8, 8)).run(sleeps(Duration::from_millis(350)));
    assert!(trend(&on_time, "iteration_response_time") < 360.0);
    // The generator is kept busy for a moment: what was planned meanwhile begins late, and that is seen.
    let late = Simulation { workers: 1, ..Simulation::of(arrivals(10.0, 8, 8)) }.steer(
        sleeps(Duration::from_millis(350)),
        async |_| {
            tokio::time::sleep(Duration::from_millis(450)).await;
            tokio::time::advance(SECOND * 2).await;
        },
    );
    assert!(trend(&late, "iteration_response_time") > 2000.0, "{}", trend(&late, "iteration_response_time"));
    let closed = Simulation::of(Executor::ConstantVus { vus: 1, duration: SECOND }).run(sleeps(SECOND / 4));
    assert!(!closed.summary.metrics.contains_key("iteration_response_time"), "nothing was planned");
}
