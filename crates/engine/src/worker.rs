//! One thread of load: makes its users, does what the conductor commands, and reports.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use model::plan::Plan;
use model::summary::Summary;
use model::unit::Moment;
use model::window::Window;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;

use crate::alarm::NEVER;
use crate::clock::Clock;
use crate::crew::{Crew, Errand, Lone, Post};
use crate::meter::{LogLine, Meter, TagSet};
use crate::net::{Gate, Pace, Passage, Permit};
use crate::outlet::Outlet;
use crate::progress::Progress;
use crate::run::EndReason;
use crate::schedule::{self, Part, Share, Shared, Steering};
use crate::tally::Tally;
use crate::user::{Assignment, UserFactory};

/// What the conductor commands.
#[derive(Clone, Debug)]
pub(crate) enum Command {
    /// Begin to hand on windows, with the second that this moment lies in.
    Open(Moment),
    /// Run setup or teardown.
    Errand(Errand, Duration),
    /// Begin the scenarios at this moment.
    Load(Moment),
    /// Set the number of users of externally controlled scenarios.
    Users(u32),
    /// Replace their users that wait for an answer since before this moment.
    Relieve(Moment),
    /// No new iterations.
    Halt,
    /// End everything.
    Cut,
    /// Forget the stop: teardown comes.
    Release,
    /// Close the books at this moment and end.
    Finish(Moment),
}

/// What a worker reports.
pub(crate) enum Report {
    /// So many users are ready.
    Ready(u32),
    /// One more user was made while the load was on.
    Made,
    /// A user could not be made.
    InitFailed(String),
    /// Setup or teardown ended.
    Errand(Lone),
    /// A script wants the test to end.
    Aborted(EndReason),
    /// All scenarios are over.
    Idle,
    /// What was seen in this second.
    Window(u64, Box<Window>),
    /// A new address was asked for.
    Passage(Passage),
    /// What scripts logged.
    Log(Vec<LogLine>),
    /// Totals so far, as of this second.
    Snapshot(u64, Box<Summary>),
    /// Totals of this worker; the last report.
    Finished(usize, Box<Summary>),
}

/// What a worker is made of.
pub(crate) struct Outfit {
    pub(crate) plan: Arc<Plan>,
    pub(crate) factory: Arc<dyn UserFactory>,
    pub(crate) clock: Clock,
    pub(crate) worker: usize,
    pub(crate) workers: usize,
    pub(crate) shared: Vec<Arc<Shared>>,
    pub(crate) progress: Arc<Progress>,
    pub(crate) permit: Permit,
    pub(crate) pace: Option<Arc<Pace>>,
    pub(crate) outlet: Option<Outlet>,
    pub(crate) commands: UnboundedReceiver<Command>,
    pub(crate) report: Rc<dyn Fn(Report)>,
}

/// Seconds between two snapshots.
const SNAPSHOT_EVERY: u64 = 2;

/// Works until it is told to finish, or nobody is left to tell it. Must run in a `LocalSet`.
pub(crate) async fn work(mut outfit: Outfit) {
    let report = outfit.report.clone();
    let outlet = outfit.outlet.take();
    let meter = Meter::of_run(outfit.plan.clone(), outfit.progress.clone(), outfit.worker, outlet);
    let hand = report.clone();
    let hand = move |second, window| hand(Report::Window(second, window));
    let tally = Tally::new(meter.clone(), outfit.clock, Box::new(hand));
    let crew = match outfit.factory.nursery(outfit.worker, meter.clone()) {
        Ok(nursery) => {
            let (say, worker, workers) = (report.clone(), outfit.worker, outfit.workers);
            let told = report.clone();
            let gate = Gate::new(outfit.permit.clone(), Box::new(move |passage| told(Report::Passage(passage))));
            let post =
                Post { worker, workers, gate, pace: outfit.pace.clone(), report: Box::new(move |what| say(what)) };
            Some(Crew::new(tally.clone(), nursery, post))
        }
        Err(error) => {
            report(Report::InitFailed(error.message));
            None
        }
    };
    if let Some(crew) = &crew {
        prepare(crew, &mut outfit).await;
    }
    let steering = Rc::new(Steering::default());
    let finish = obey(&mut outfit, crew.as_ref(), &tally, &steering).await;
    tally.finish(finish);
    report(Report::Log(meter.take_log()));
    report(Report::Finished(outfit.worker, Box::new(meter.summary())));
}

/// Makes the users that the plan needs, unless a command comes meanwhile: during init all of them mean the end.
async fn prepare(crew: &Rc<Crew>, outfit: &mut Outfit) {
    let needed = schedule::users_needed(&outfit.plan, outfit.worker, outfit.workers);
    for _ in 0..needed {
        if let Err(error) = crew.prepare() {
            crew.report(Report::InitFailed(error.message));
            return;
        }
        tokio::task::yield_now().await;
        if !outfit.commands.is_empty() {
            return;
        }
    }
    crew.report(Report::Ready(needed));
}

/// Carries out commands; returns the moment to finish at.
async fn obey(outfit: &mut Outfit, crew: Option<&Rc<Crew>>, tally: &Rc<Tally>, steering: &Rc<Steering>) -> Moment {
    let mut tasks = JoinSet::new();
    while let Some(command) = outfit.commands.recv().await {
        if let Command::Finish(at) = command {
            return at;
        }
        let Some(crew) = crew else { continue };
        match command {
            Command::Open(from) => {
                tally.begin(from);
                let snapshots = outfit.plan.thresholds.iter().any(|threshold| threshold.abort_on_fail);
                tasks.spawn_local(tick(tally.clone(), outfit.report.clone(), snapshots));
            }
            Command::Errand(errand, timeout) => {
                let crew = crew.clone();
                tasks.spawn_local(async move {
                    let ending = crew.lone(errand, timeout).await;
                    crew.report(Report::Log(crew.tally.meter.take_log()));
                    crew.report(Report::Errand(ending));
                });
            }
            Command::Load(at) => {
                tasks.spawn_local(load(crew.clone(), parts(outfit, crew, steering, at)));
            }
            Command::Users(users) => steering.set(users),
            Command::Relieve(moment) => steering.relieve(moment),
            Command::Halt => {
                crew.halt();
                steering.wake();
            }
            Command::Cut => {
                crew.cut();
                steering.wake();
            }
            Command::Release => crew.release(),
            Command::Finish(at) => return at,
        }
    }
    tally.clock.now()
}

fn parts(outfit: &Outfit, crew: &Rc<Crew>, steering: &Rc<Steering>, at: Moment) -> Vec<Part> {
    let firsts = schedule::first_workers(&outfit.plan, outfit.workers);
    let segment = Rc::new(outfit.plan.segment.clone());
    let scenarios = outfit.plan.scenarios.iter().zip(&outfit.shared).zip(firsts).enumerate();
    let part = |(number, ((scenario, shared), first)): (usize, ((&model::plan::Scenario, &Arc<Shared>), usize))| {
        let tags = scenario.tags.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        let tags: Vec<_> = tags.chain([("scenario", scenario.name.as_str())]).collect();
        Part {
            scenario: scenario.clone(),
            assignment: Rc::new(Assignment {
                scenario: scenario.name.clone(),
                number,
                exec: scenario.exec.clone(),
                env: scenario.env.clone().into_iter().collect(),
                tags: crew.tally.meter.tags(TagSet::RUN, &tags),
            }),
            share: Share { worker: outfit.worker, workers: outfit.workers, first, segment: segment.clone() },
            shared: shared.clone(),
            crew: crew.clone(),
            steering: steering.clone(),
            begin: at + scenario.start_time,
        }
    };
    scenarios.map(part).collect()
}

async fn load(crew: Rc<Crew>, parts: Vec<Part>) {
    let _over = Over(crew);
    let mut scenarios = JoinSet::new();
    for part in parts {
        scenarios.spawn_local(schedule::run(Rc::new(part)));
    }
    scenarios.join_all().await;
}

/// Reports the end of the load, also if a user brought it about by a panic.
struct Over(Rc<Crew>);

impl Drop for Over {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.report(Report::Aborted(EndReason::Aborted("a virtual user panicked".to_owned())));
        }
        self.0.report(Report::Idle);
    }
}

/// Closes windows in seconds in which nothing else does, and passes on what was logged.
async fn tick(tally: Rc<Tally>, report: Rc<dyn Fn(Report)>, snapshots: bool) {
    loop {
        let boundary = tally.boundary();
        if boundary == NEVER {
            return;
        }
        tokio::time::sleep_until(tally.clock.instant(boundary)).await;
        tally.roll(tally.clock.now());
        let log = tally.meter.take_log();
        if !log.is_empty() {
            report(Report::Log(log));
        }
        let second = boundary.0 / 1_000_000_000;
        if snapshots && second.is_multiple_of(SNAPSHOT_EVERY) {
            report(Report::Snapshot(second, Box::new(tally.meter.summary())));
        }
    }
}
