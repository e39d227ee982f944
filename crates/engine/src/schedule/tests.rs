//! Whole runs in simulated time: conductor and workers in one paused runtime, and users that only sleep.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use model::expression::Selector;
use model::plan::{Stage, Threshold};
use model::summary::{Summary, Total};
use model::window::Window;
use tokio::task::LocalSet;
use tokio::time::Instant;

use super::*;
use crate::meter::{LogLine, Meter};
use crate::run::{EndReason, Event, Running, Stop, start_local};
use crate::user::{Answer, Ask, Ending, Nursery, User, UserError, UserFactory};

mod parts;

const SECOND: Duration = Duration::from_secs(1);

/// Where a user is.
struct Step<'a> {
    vu: u32,
    exec: &'a str,
    /// How often it was answered in this iteration.
    step: u32,
}

type Behaviour = dyn Fn(&Step<'_>) -> Ask + Send + Sync;

/// Makes users that behave as told, and writes down when their iterations begin.
struct Rig {
    behaviour: Box<Behaviour>,
    begun: Arc<Mutex<Vec<Begun>>>,
    beginning: Instant,
    users_max: u32,
}

#[derive(Clone, Debug, PartialEq)]
struct Begun {
    exec: String,
    vu: u32,
    number: u64,
    at: Duration,
}

impl UserFactory for Arc<Rig> {
    fn nursery(&self, _: usize, meter: Rc<Meter>) -> Result<Box<dyn Nursery>, UserError> {
        Ok(Box::new(RigNursery(self.clone(), meter)))
    }
}

struct RigNursery(Arc<Rig>, Rc<Meter>);

impl Nursery for RigNursery {
    fn user(&mut self, vu: u32) -> Result<Box<dyn User>, UserError> {
        if vu > self.0.users_max {
            return Err(UserError { message: "too many".to_owned() });
        }
        Ok(Box::new(RigUser { rig: self.0.clone(), meter: self.1.clone(), vu, exec: String::new(), step: 0 }))
    }

    fn setup(&mut self) -> Result<Box<dyn User>, UserError> {
        self.user(0)
    }

    fn teardown(&mut self) -> Result<Box<dyn User>, UserError> {
        self.user(0)
    }
}

struct RigUser {
    rig: Arc<Rig>,
    meter: Rc<Meter>,
    vu: u32,
    exec: String,
    step: u32,
}

impl User for RigUser {
    fn resume(&mut self, answer: Answer) -> Ask {
        match answer {
            Answer::Begin(assignment, number) => {
                (self.exec, self.step) = (assignment.exec.clone(), 0);
                let at = self.rig.beginning.elapsed();
                let exec = self.exec.clone();
                self.meter.log(model::record::Level::Info, exec.clone());
                self.rig.begun.lock().unwrap().push(Begun { exec, vu: self.vu, number, at });
            }
            Answer::Cancel => return Ask::Done(Ending::Interrupted),
            _ => self.step += 1,
        }
        (self.rig.behaviour)(&Step { vu: self.vu, exec: &self.exec, step: self.step })
    }
}

/// One sleep of this length.
fn sleeps(length: Duration) -> impl Fn(&Step<'_>) -> Ask {
    move |step| if step.step == 0 { Ask::Sleep(length) } else { Ask::Done(Ending::Completed) }
}

fn scenario(executor: Executor) -> Scenario {
    Scenario {
        name: "s".to_owned(),
        executor,
        exec: "default".to_owned(),
        start_time: Duration::ZERO,
        graceful_stop: SECOND * 2,
        env: BTreeMap::new(),
        tags: BTreeMap::new(),
    }
}

fn plan(scenarios: Vec<Scenario>) -> Plan {
    Plan { target: String::new(), scenarios, ..Plan::default() }
}

/// What came of a run.
struct Outcome {
    reason: EndReason,
    summary: Summary,
    windows: Vec<Window>,
    begun: Vec<Begun>,
    log: Vec<LogLine>,
    snapshots: usize,
    ready: Option<u32>,
    length: Duration,
}

impl Outcome {
    fn sum(&self, of: impl Fn(&Window) -> u64) -> u64 {
        self.windows.iter().map(of).sum()
    }

    fn iterations(&self) -> u64 {
        self.sum(|window| window.iterations)
    }

    fn counter(&self, name: &str) -> f64 {
        match self.summary.metrics.get(name).map(|metric| &metric.total) {
            Some(Total::Counter(sum)) => *sum,
            None => 0.0,
            other => panic!("{other:?}"),
        }
    }

    /// When iterations began, in milliseconds since the load did, rising.
    fn starts_ms(&self) -> Vec<u64> {
        let mut starts: Vec<_> = self.begun.iter().map(|begun| begun.at.as_millis() as u64 - 1).collect();
        starts.sort_unstable();
        starts
    }

    fn users(&self) -> Vec<u32> {
        self.windows.iter().map(|window| window.users).collect()
    }
}

struct Simulation {
    plan: Plan,
    workers: usize,
    users_max: u32,
}

impl Simulation {
    fn of(executor: Executor) -> Self {
        Self { plan: plan(vec![scenario(executor)]), workers: 2, users_max: u32::MAX }
    }

    fn run(self, behaviour: impl Fn(&Step<'_>) -> Ask + Send + Sync + 'static) -> Outcome {
        self.steer(behaviour, async |_| ())
    }

    /// Runs to the end, while `steering` does its part from outside.
    fn steer(
        self,
        behaviour: impl Fn(&Step<'_>) -> Ask + Send + Sync + 'static,
        steering: impl AsyncFn(crate::run::Control),
    ) -> Outcome {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        LocalSet::new().block_on(&runtime, async {
            let beginning = Instant::now();
            let begun = Arc::new(Mutex::new(Vec::new()));
            let users_max = self.users_max;
            let rig = Rig { behaviour: Box::new(behaviour), begun: begun.clone(), beginning, users_max };
            let factory: Arc<dyn UserFactory> = Arc::new(Arc::new(rig));
            let running = start_local(self.plan, &factory, self.workers);
            let control = running.control.clone();
            let (outcome, ()) = tokio::join!(listen(running, &begun, beginning), steering(control));
            outcome
        })
    }
}

async fn listen(mut running: Running, begun: &Mutex<Vec<Begun>>, beginning: Instant) -> Outcome {
    let (mut windows, mut log, mut snapshots, mut ready) = (Vec::new(), Vec::new(), 0, None);
    loop {
        match running.events.recv().await.expect("a run ends with its end") {
            Event::Window(window) => windows.push(*window),
            Event::Log(line) => log.push(line),
            Event::Snapshot(_) => snapshots += 1,
            Event::Ready { users } => ready = Some(users),
            Event::SetupDone | Event::Contacted { .. } => {}
            Event::Ended(ended) => {
                assert!(running.events.recv().await.is_none(), "something came behind the end");
                let length = beginning.elapsed();
                let begun = begun.lock().unwrap().clone();
                let (reason, summary) = (ended.reason, ended.summary);
                return Outcome { reason, summary, windows, begun, log, snapshots, ready, length };
            }
        }
    }
}

fn constant_vus(vus: u32, seconds: u32) -> Executor {
    Executor::ConstantVus { vus, duration: SECOND * seconds }
}

#[test]
fn constant_vus_loop_for_their_time() {
    let outcome = Simulation::of(constant_vus(3, 5)).run(sleeps(SECOND / 2));
    assert_eq!((outcome.reason.clone(), outcome.ready), (EndReason::Completed, Some(3)));
    assert!((30..=33).contains(&outcome.iterations()), "{}", outcome.iterations());
    assert_eq!(outcome.counter("iterations"), outcome.iterations() as f64);
    assert_eq!(outcome.users()[..5], [3; 5]);
    let active: f64 = outcome.windows[1..5].iter().map(|window| window.active_mean).sum();
    assert!((active / 4.0 - 3.0).abs() < 1e-6, "{active}");
    let vus = &outcome.summary.metrics["vus"].total;
    assert!(matches!(vus, Total::Gauge { max: 3.0, .. }), "{vus:?}");
    let mut vus: Vec<u32> = outcome.begun.iter().map(|begun| begun.vu).collect();
    vus.sort_unstable();
    vus.dedup();
    assert_eq!(vus, [1, 2, 3]);
    assert_eq!(outcome.log.len(), outcome.begun.len());
}

#[test]
fn windows_lie_on_whole_seconds_and_leave_no_gap() {
    let outcome = Simulation::of(constant_vus(4, 3)).run(sleeps(Duration::from_millis(370)));
    for (second, window) in outcome.windows.iter().enumerate() {
        assert_eq!(window.start(), Moment(second as u64 * 1_000_000_000));
        assert_eq!(window.generator.workers, 2);
    }
    let pairs = outcome.windows.windows(2);
    pairs.for_each(|pair| assert_eq!(pair[0].interval.to, pair[1].interval.from));
    assert!(outcome.windows.last().unwrap().interval.seconds() < 1.0);
}

#[test]
fn iterations_are_cut_behind_the_graceful_time_and_do_not_count() {
    let outcome = Simulation::of(constant_vus(2, 3)).run(sleeps(SECOND * 60));
    assert_eq!((outcome.iterations(), outcome.sum(|window| window.interrupted)), (0, 2));
    assert!((5000..5100).contains(&outcome.length.as_millis()), "{:?}", outcome.length);
    assert!(!outcome.summary.metrics.contains_key("iteration_duration"));
}

#[test]
fn shared_iterations_come_from_one_counter() {
    let executor = Executor::SharedIterations { vus: 3, iterations: 10, max_duration: SECOND * 60 };
    let outcome = Simulation::of(executor).run(sleeps(SECOND));
    let mut numbers: Vec<u64> = outcome.begun.iter().map(|begun| begun.number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..10).collect::<Vec<_>>());
    assert_eq!(outcome.counter("dropped_iterations"), 0.0);
}

#[test]
fn iterations_that_an_abort_calls_off_are_not_dropped() {
    for executor in [
        Executor::SharedIterations { vus: 2, iterations: 10, max_duration: SECOND * 60 },
        Executor::PerVuIterations { vus: 2, iterations: 10, max_duration: SECOND * 60 },
    ] {
        let outcome = Simulation::of(executor).run(|step| match step.step {
            0 => Ask::Sleep(SECOND),
            _ if step.vu == 1 => Ask::Done(Ending::Aborted("enough".to_owned())),
            _ => Ask::Done(Ending::Completed),
        });
        assert_eq!(outcome.reason, EndReason::Aborted("enough".to_owned()));
        assert_eq!(outcome.sum(|window| window.dropped), 0);
    }
}

#[test]
fn iterations_left_at_the_end_are_dropped() {
    let executor = Executor::SharedIterations { vus: 2, iterations: 10, max_duration: Duration::from_millis(2500) };
    let outcome = Simulation::of(executor).run(sleeps(SECOND));
    assert_eq!((outcome.iterations(), outcome.counter("dropped_iterations")), (6, 4.0));
    let executor = Executor::PerVuIterations { vus: 2, iterations: 4, max_duration: Duration::from_millis(2500) };
    let outcome = Simulation::of(executor).run(sleeps(SECOND));
    assert_eq!((outcome.iterations(), outcome.sum(|window| window.dropped)), (6, 2));
}

#[test]
fn per_vu_iterations_are_each_users_own() {
    let executor = Executor::PerVuIterations { vus: 3, iterations: 2, max_duration: SECOND * 60 };
    let outcome = Simulation::of(executor).run(|step| match (step.step, step.vu) {
        (0, 1) => Ask::Sleep(SECOND * 10),
        (0, _) => Ask::Sleep(SECOND),
        _ => Ask::Done(Ending::Completed),
    });
    let of = |vu| outcome.begun.iter().filter(|begun| begun.vu == vu).count();
    assert_eq!((of(1), of(2), of(3)), (2, 2, 2));
}

#[test]
fn ramping_users_follow_the_line_and_get_time_to_leave() {
    let stage = |seconds, target| Stage { duration: SECOND * seconds, target };
    let stages = vec![stage(4, 4), stage(2, 4), stage(4, 0)];
    let executor = Executor::RampingVus { start_vus: 0, stages, graceful_ramp_down: SECOND * 30 };
    let outcome = Simulation::of(executor.clone()).run(sleeps(Duration::from_millis(100)));
    // Windows end on whole seconds, the load began a millisecond behind one.
    assert_eq!(outcome.users()[..10], [0, 1, 2, 3, 4, 4, 4, 3, 2, 1]);
    assert_eq!(outcome.sum(|window| window.interrupted), 0);
    let outcome = Simulation::of(executor).run(sleeps(SECOND * 60));
    // The scenario's own graceful time of 2 s is the shorter one.
    assert_eq!(outcome.sum(|window| window.interrupted), 4);
    assert!((12_000..12_100).contains(&outcome.length.as_millis()), "{:?}", outcome.length);
}

fn arrivals(rate: f64, ready: u32, max: u32) -> Executor {
    Executor::ConstantArrivalRate {
        rate,
        time_unit: SECOND,
        duration: SECOND * 2,
        pre_allocated_vus: ready,
        max_vus: max,
    }
}

#[test]
fn arrivals_come_on_time_whatever_the_users_do() {
    let outcome = Simulation::of(arrivals(10.0, 8, 8)).run(sleeps(Duration::from_millis(350)));
    assert_eq!(outcome.starts_ms(), (0..20).map(|index| index * 100).collect::<Vec<_>>());
    assert_eq!((outcome.iterations(), outcome.sum(|window| window.dropped)), (20, 0));
    let mut numbers: Vec<u64> = outcome.begun.iter().map(|begun| begun.number).collect();
    numbers.dedup();
    assert_eq!(numbers.len(), 20);
}

#[test]
fn arrivals_without_a_free_user_are_dropped_and_users_are_added() {
    let outcome = Simulation::of(arrivals(10.0, 1, 1)).run(sleeps(Duration::from_millis(350)));
    assert_eq!(outcome.starts_ms(), [0, 400, 800, 1200, 1600]);
    assert_eq!(outcome.sum(|window| window.dropped), 15);
    let outcome = Simulation::of(arrivals(10.0, 1, 50)).run(sleeps(Duration::from_millis(350)));
    let vus = outcome.begun.iter().map(|begun| begun.vu).collect::<std::collections::BTreeSet<_>>();
    assert_eq!((outcome.sum(|window| window.dropped), vus.len()), (3, 4));
    let made = &outcome.summary.metrics["vus_max"].total;
    assert!(matches!(made, Total::Gauge { value: 4.0, .. }), "{made:?}");
}

#[test]
fn arrivals_follow_a_ramp() {
    let stages = vec![Stage { duration: SECOND * 2, target: 4 }, Stage { duration: SECOND, target: 4 }];
    let (pre_allocated_vus, max_vus) = (2, 2);
    let executor =
        Executor::RampingArrivalRate { start_rate: 0, time_unit: SECOND, stages, pre_allocated_vus, max_vus };
    let outcome = Simulation::of(executor).run(sleeps(Duration::from_millis(100)));
    assert_eq!(outcome.starts_ms(), [1000, 1415, 1733, 2000, 2250, 2500, 2750, 3000]);
    assert_eq!((outcome.iterations(), outcome.sum(|window| window.dropped)), (8, 0));
}

#[test]
fn arrivals_end_with_a_stop() {
    let outcome = Simulation::of(arrivals(100.0, 5, 30)).steer(sleeps(SECOND / 4), async |control| {
        tokio::time::sleep(SECOND).await;
        control.stop(Stop::Graceful);
    });
    assert_eq!((outcome.reason.clone(), outcome.sum(|window| window.interrupted)), (EndReason::Stopped, 0));
    assert_eq!(outcome.begun.len() as u64 + outcome.sum(|window| window.dropped), 100);
    assert!(outcome.length < SECOND * 3 / 2, "{:?}", outcome.length);
}

#[test]
fn users_are_steered_from_outside() {
    let simulation = Simulation::of(Executor::ExternallyControlled { vus: 0, max_vus: 6, duration: None });
    let outcome = simulation.steer(sleeps(Duration::from_millis(400)), async |control| {
        let wait = |ms| tokio::time::sleep(Duration::from_millis(ms));
        wait(500).await;
        control.set_users(4);
        wait(3000).await;
        control.set_users(1);
        wait(2000).await;
        control.set_users(99);
        wait(2000).await;
        control.stop(Stop::Graceful);
    });
    assert_eq!((outcome.reason.clone(), outcome.ready), (EndReason::Stopped, Some(0)));
    assert_eq!(outcome.users()[..7], [2, 4, 4, 1, 1, 4, 6]);
    assert_eq!(outcome.sum(|window| window.interrupted), 0);
    // The first iterations of the four are spread over a second.
    let mut first: Vec<u128> = (1..=4)
        .filter_map(|vu| outcome.begun.iter().find(|begun| begun.vu == vu))
        .map(|begun| begun.at.as_millis() / 10 * 10)
        .collect();
    first.sort_unstable();
    assert_eq!(first, [500, 750, 1000, 1250]);
}

fn asks(url: &str) -> Ask {
    Ask::Http(Box::new(crate::user::Request::get(url, crate::meter::TagSet::RUN)))
}

/// Lets connections be made, and never answers.
fn silent_server() -> (std::net::TcpListener, String) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    (listener, url)
}

/// Ten users, five from second 5 on. In second 8 it is made sure that none of them waits since before second 5. Nine
/// from second 14 on; the end is in second 18.
fn step_down(behaviour: impl Fn(&Step<'_>) -> Ask + Send + Sync + 'static) -> Outcome {
    let simulation = Simulation::of(Executor::ExternallyControlled { vus: 0, max_vus: 20, duration: None });
    simulation.steer(behaviour, async |control| {
        control.set_users(10);
        tokio::time::sleep(SECOND * 5).await;
        control.set_users(5);
        tokio::time::sleep(SECOND * 3).await;
        control.relieve(Moment::START + SECOND * 5);
        tokio::time::sleep(SECOND * 6).await;
        control.set_users(9);
        tokio::time::sleep(SECOND * 4).await;
        control.stop(Stop::Graceful);
    })
}

#[test]
fn users_who_are_stuck_since_a_heavier_load_are_replaced() {
    let (_listener, url) = silent_server();
    let works = sleeps(SECOND / 10);
    // The user in slot n has number n + 1: three of the five that stay are stuck, and two of those that are to leave.
    let outcome = step_down(move |step| if matches!(step.vu, 1..=3 | 8..=9) { asks(&url) } else { works(step) });
    let working = |second: usize| (outcome.windows[second].iterations as f64 / 10.0).round();
    assert_eq!([4, 6, 9, 12].map(working), [5.0, 2.0, 5.0, 5.0]);
    let levels = |second: usize| {
        let window = &outcome.windows[second];
        (window.users, window.active_mean.round(), window.in_flight_mean.round())
    };
    assert_eq!((levels(6), levels(9)), ((7, 7.0, 5.0), (10, 10.0, 5.0)), "those who are stuck have yet to leave");
    assert_eq!(working(16), 9.0, "a slot that is wanted again is not for somebody who is stuck");
    assert_eq!((outcome.users()[16], outcome.sum(|window| window.interrupted)), (14, 5));
}

#[test]
fn users_who_were_relieved_end_their_iteration_and_leave() {
    let (listener, url) = silent_server();
    let works = sleeps(SECOND / 10);
    let simulation = Simulation {
        workers: 1,
        ..Simulation::of(Executor::ExternallyControlled { vus: 0, max_vus: 9, duration: None })
    };
    let outcome = simulation.steer(
        move |step| match (step.vu, step.step) {
            (1, 0) => asks(&url),
            (1, 1) => Ask::Sleep(SECOND),
            _ => works(step),
        },
        async |control| {
            control.set_users(2);
            tokio::time::sleep(SECOND * 7 / 2).await;
            control.relieve(Moment::START + SECOND * 3);
            tokio::time::sleep(SECOND * 3).await;
            let (stream, _) = listener.accept().unwrap();
            drop(stream);
            tokio::time::sleep(SECOND * 3).await;
            control.stop(Stop::Graceful);
        },
    );
    assert_eq!(outcome.users()[..9], [2, 2, 2, 3, 3, 3, 3, 2, 2]);
    assert_eq!(outcome.begun.iter().filter(|begun| begun.vu == 1).count(), 1);
    assert_eq!(outcome.sum(|window| window.interrupted), 0);
}

#[test]
fn users_who_think_are_never_replaced() {
    let outcome = step_down(|step| match step.step {
        0 => asks("http://127.0.0.1:1/"),
        1 => Ask::Sleep(SECOND * 60),
        _ => Ask::Done(Ending::Completed),
    });
    assert_eq!((outcome.sum(|window| window.requests.finished), outcome.begun.len()), (10, 10));
}

#[test]
fn users_whom_this_load_makes_wait_are_never_replaced() {
    let (_listener, url) = silent_server();
    let outcome = step_down(move |step| match step.step {
        0 => Ask::Sleep(SECOND * 11 / 2),
        _ => asks(&url),
    });
    assert_eq!((outcome.windows[9].in_flight_mean.round(), outcome.begun.len()), (10.0, 10));
}

#[test]
fn scenarios_begin_at_their_time_and_reuse_users() {
    let first = scenario(constant_vus(2, 2));
    let second = Scenario { start_time: SECOND * 5, exec: "late".to_owned(), ..scenario(constant_vus(2, 2)) };
    let simulation = Simulation { plan: plan(vec![first, second]), workers: 2, users_max: u32::MAX };
    let outcome = simulation.run(sleeps(SECOND));
    assert_eq!(outcome.ready, Some(2));
    let late = outcome.begun.iter().find(|begun| begun.exec == "late").unwrap();
    assert_eq!(late.at.as_millis(), 5001);
    assert!(outcome.begun.iter().all(|begun| begun.vu <= 2));
}

#[test]
fn overlapping_scenarios_have_users_of_their_own_evenly_spread() {
    let three = || scenario(constant_vus(3, 1));
    let plan = plan(vec![three(), Scenario { start_time: SECOND, ..three() }]);
    assert_eq!((users_needed(&plan, 0, 2), users_needed(&plan, 1, 2)), (3, 3));
}

#[test]
fn a_graceful_stop_lets_iterations_end_within_their_time() {
    let stop = async |control: crate::run::Control| {
        tokio::time::sleep(SECOND * 3 + SECOND / 2).await;
        control.stop(Stop::Graceful);
    };
    let outcome = Simulation::of(constant_vus(2, 600)).steer(sleeps(SECOND), stop);
    assert_eq!((outcome.reason.clone(), outcome.sum(|window| window.interrupted)), (EndReason::Stopped, 0));
    assert!(outcome.length < SECOND * 5, "{:?}", outcome.length);
    let outcome = Simulation::of(constant_vus(2, 600)).steer(sleeps(SECOND * 100), stop);
    assert_eq!(outcome.sum(|window| window.interrupted), 2);
    assert!(outcome.length < SECOND * 6, "{:?}", outcome.length);
}

#[test]
fn stopping_now_takes_no_time_and_skips_teardown() {
    let mut simulation = Simulation::of(constant_vus(2, 600));
    simulation.plan.teardown = Some(SECOND);
    let outcome = simulation.steer(sleeps(SECOND * 100), async |control| {
        tokio::time::sleep(SECOND * 3).await;
        control.stop(Stop::Now);
    });
    assert_eq!((outcome.reason.clone(), outcome.sum(|window| window.interrupted)), (EndReason::Stopped, 2));
    assert!(outcome.length < SECOND * 4, "{:?}", outcome.length);
    assert!(outcome.begun.iter().all(|begun| begun.exec == "default"));
}

#[test]
fn setup_comes_first_and_teardown_last_also_behind_a_stop() {
    let mut simulation = Simulation::of(constant_vus(1, 600));
    (simulation.plan.setup, simulation.plan.teardown) = (Some(SECOND * 9), Some(SECOND * 9));
    let outcome = simulation.steer(sleeps(SECOND), async |control| {
        tokio::time::sleep(SECOND * 4).await;
        control.stop(Stop::Graceful);
    });
    assert_eq!(outcome.reason, EndReason::Stopped);
    let execs: Vec<_> = outcome.begun.iter().map(|begun| begun.exec.as_str()).collect();
    assert_eq!((execs[0], execs[1], execs[execs.len() - 1]), ("setup", "default", "teardown"));
    assert_eq!(outcome.iterations(), execs.len() as u64 - 2);
    assert!(outcome.summary.duration_s > 5.0);
}

#[test]
fn setup_and_teardown_fail_in_their_own_ways() {
    let check = |exec: &'static str, ask: fn() -> Ask, expected: EndReason, load: bool| {
        let mut simulation = Simulation::of(constant_vus(1, 1));
        (simulation.plan.setup, simulation.plan.teardown) = (Some(SECOND * 3), Some(SECOND * 3));
        let done = sleeps(SECOND / 2);
        let outcome = simulation.run(move |step| if step.exec == exec { ask() } else { done(step) });
        assert_eq!(outcome.reason, expected);
        assert_eq!(outcome.iterations() > 0, load);
    };
    let throws = || Ask::Done(Ending::Threw("no".to_owned()));
    let hangs = || Ask::Sleep(SECOND * 1000);
    check("setup", throws, EndReason::SetupFailed("no".to_owned()), false);
    check("setup", hangs, EndReason::SetupTimedOut, false);
    check("teardown", throws, EndReason::TeardownFailed("no".to_owned()), true);
    check("teardown", hangs, EndReason::TeardownTimedOut, true);
}

#[test]
fn an_abort_cuts_the_others_and_runs_teardown() {
    let mut simulation = Simulation::of(constant_vus(4, 600));
    simulation.plan.teardown = Some(SECOND);
    let outcome = simulation.run(|step| match (step.exec, step.vu, step.step) {
        ("teardown", ..) | (_, _, 2..) => Ask::Done(Ending::Completed),
        (_, 3, 1) => Ask::Done(Ending::Aborted("enough".to_owned())),
        (_, 3, _) => Ask::Sleep(SECOND),
        _ => Ask::Sleep(SECOND * 100),
    });
    assert_eq!(outcome.reason, EndReason::Aborted("enough".to_owned()));
    assert_eq!((outcome.iterations(), outcome.sum(|window| window.interrupted)), (1, 3));
    assert_eq!(outcome.begun.last().unwrap().exec, "teardown");
    assert!(outcome.length < SECOND * 2, "{:?}", outcome.length);
}

#[test]
fn what_is_not_supported_ends_the_run_at_its_first_use() {
    let outcome = Simulation::of(constant_vus(2, 600)).run(|step| match (step.vu, step.step) {
        (1, 1) => Ask::Done(Ending::Unsupported("jar".to_owned())),
        (1, _) => Ask::Sleep(SECOND),
        _ => Ask::Sleep(SECOND * 100),
    });
    assert_eq!(outcome.reason, EndReason::Unsupported("jar".to_owned()));
    assert_eq!(outcome.iterations(), 0);
    let mut simulation = Simulation::of(constant_vus(1, 10));
    simulation.plan.setup = Some(SECOND);
    let outcome = simulation.run(|_| Ask::Done(Ending::Unsupported("jar".to_owned())));
    assert_eq!(outcome.reason, EndReason::Unsupported("jar".to_owned()));
}

#[test]
fn exceptions_count_as_iterations() {
    let outcome = Simulation::of(constant_vus(1, 2)).run(|step| match step.step {
        0 => Ask::Sleep(SECOND),
        _ => Ask::Done(Ending::Threw("TypeError".to_owned())),
    });
    assert_eq!(outcome.iterations(), outcome.sum(|window| window.exceptions));
    assert!(outcome.iterations() >= 2);
}

#[test]
fn short_iterations_are_padded_without_growing_longer() {
    let mut simulation = Simulation::of(constant_vus(1, 10));
    simulation.plan.min_iteration = SECOND;
    let outcome = simulation.run(sleeps(Duration::from_millis(100)));
    assert!((10..=11).contains(&outcome.iterations()), "{}", outcome.iterations());
    let Total::Trend(lengths) = &outcome.summary.metrics["iteration_duration"].total else { panic!() };
    assert!(lengths.max() < 110.0);
}

#[test]
fn users_that_compute_without_end_let_others_run_and_can_be_stopped() {
    let outcome = Simulation { workers: 1, ..Simulation::of(constant_vus(2, 1)) }.steer(
        |step| match step.vu {
            1 => Ask::Yield,
            _ if step.step == 0 => Ask::Yield,
            _ => Ask::Done(Ending::Completed),
        },
        // Nothing ever sleeps, so that simulated time stands still until this test moves it.
        async |_| {
            for _ in 0..10_000 {
                tokio::time::advance(Duration::from_millis(1)).await;
                tokio::task::yield_now().await;
            }
        },
    );
    assert!(outcome.begun.iter().filter(|begun| begun.vu == 2).count() > 1);
    assert_eq!(outcome.sum(|window| window.interrupted), 1);
}

#[test]
fn users_whose_requests_fail_at_once_let_others_run() {
    let simulation = Simulation { workers: 1, ..Simulation::of(constant_vus(2, 1)) };
    let outcome = simulation.steer(
        |step| match (step.vu, step.step) {
            (1, _) => asks("nowhere"),
            (_, 0) => Ask::Yield,
            _ => Ask::Done(Ending::Completed),
        },
        async |_| {
            for _ in 0..4000 {
                tokio::time::advance(Duration::from_millis(1)).await;
                tokio::task::yield_now().await;
            }
        },
    );
    assert!(outcome.begun.iter().filter(|begun| begun.vu == 2).count() > 1);
    assert_eq!(outcome.sum(|window| window.interrupted), 1);
}

#[test]
fn a_panic_of_a_user_ends_the_run() {
    let outcome = Simulation::of(constant_vus(2, 60)).run(|step| match step.step {
        0 => Ask::Sleep(SECOND),
        _ if step.vu == 1 => panic!("on purpose"),
        _ => Ask::Done(Ending::Completed),
    });
    assert_eq!(outcome.reason, EndReason::Aborted("a virtual user panicked".to_owned()));
}

#[test]
fn a_number_of_users_set_before_the_load_holds_from_its_beginning() {
    let controlled = Executor::ExternallyControlled { vus: 0, max_vus: 6, duration: None };
    let mut plan = plan(vec![scenario(constant_vus(50, 3)), scenario(controlled)]);
    plan.scenarios[1].name = "controlled".to_owned();
    let simulation = Simulation { plan, workers: 2, users_max: u32::MAX };
    let outcome = simulation.steer(sleeps(SECOND / 10), async |control| {
        control.set_users(4);
        tokio::time::sleep(SECOND * 5).await;
        control.stop(Stop::Graceful);
    });
    assert_eq!((outcome.ready, outcome.users()[1], outcome.users()[3]), (Some(50), 54, 4));
}

#[test]
fn a_run_that_nobody_listens_to_ends() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    LocalSet::new().block_on(&runtime, async {
        let begun = Arc::default();
        let behaviour = Box::new(sleeps(SECOND / 2));
        let rig = Arc::new(Rig { behaviour, begun, beginning: Instant::now(), users_max: 9 });
        let factory: Arc<dyn UserFactory> = Arc::new(rig.clone());
        let running = start_local(plan(vec![scenario(constant_vus(1, 86_400))]), &factory, 1);
        drop((running, factory));
        tokio::time::sleep(SECOND * 10).await;
        assert_eq!(Arc::strong_count(&rig), 1, "a worker is still there");
        assert!(rig.begun.lock().unwrap().len() < 5);
    });
}

#[test]
fn a_user_that_cannot_be_made_ends_the_run() {
    let failed = EndReason::InitFailed("too many".to_owned());
    let outcome = Simulation { users_max: 3, ..Simulation::of(constant_vus(5, 1)) }.run(sleeps(SECOND));
    assert_eq!((outcome.reason, outcome.begun.len()), (failed.clone(), 0));
    let outcome = Simulation { users_max: 2, ..Simulation::of(arrivals(10.0, 2, 9)) }.run(sleeps(SECOND));
    assert_eq!(outcome.reason, failed);
}

#[test]
fn totals_so_far_come_if_a_threshold_may_end_the_run() {
    let mut simulation = Simulation::of(constant_vus(1, 7));
    let selector = Selector::all("iterations");
    let threshold = Threshold { selector, expression: None, abort_on_fail: true, delay_abort_eval: Duration::ZERO };
    simulation.plan.thresholds.push(threshold);
    assert_eq!(simulation.run(sleeps(SECOND)).snapshots, 3);
    assert_eq!(Simulation::of(constant_vus(1, 7)).run(sleeps(SECOND)).snapshots, 0);
}

#[test]
fn waking_later_than_asked_is_recorded() {
    let outcome = Simulation::of(constant_vus(1, 2)).run(sleeps(Duration::from_micros(300)));
    let late = outcome.windows.iter().map(|window| window.late.max_ms()).fold(0.0, f64::max);
    // The timer counts whole milliseconds.
    assert!((0.5..=1.1).contains(&late), "{late}");
}
