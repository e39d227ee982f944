//! A run from outside: start it, steer it, listen to it. Its threads end by themselves behind [`Event::Ended`].

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::thread::JoinHandle;

use model::plan::Plan;
use model::summary::Summary;
use model::unit::Moment;
use model::window::Window;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::LocalSet;

use crate::clock::Clock;
use crate::collector::Collector;
use crate::conductor::{Conductor, Input};
use crate::meter::LogLine;
use crate::net::{Pace, Permit};
use crate::outlet::{Outlet, SampleSender};
use crate::progress::Progress;
use crate::schedule::Shared;
use crate::user::UserFactory;
use crate::worker::{self, Outfit};

/// How a run is to be carried out.
#[derive(Clone, Debug)]
pub struct Options {
    /// Threads that users live on; 0 is one per core.
    pub workers: usize,
    /// From when moments are counted.
    pub beginning: std::time::Instant,
    /// Which hosts may be loaded.
    pub permit: Permit,
    /// Where single samples go, if anybody wants them.
    pub samples: Option<SampleSender>,
}

/// Why a run could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The system gave no thread.
    #[error("could not start a thread for the load")]
    Thread(#[source] std::io::Error),
    /// The plan offers nothing.
    #[error("the plan has no scenario")]
    NoScenario,
}

/// A run under way. It is stopped when nobody listens to its events any more.
#[derive(Debug)]
pub struct Running {
    /// What happens in it; the last event is [`Event::Ended`].
    pub events: UnboundedReceiver<Event>,
    /// Steers it.
    pub control: Control,
}

/// Steers a run. Whatever it is told behind the end of the run has no effect.
#[derive(Clone, Debug)]
pub struct Control {
    inputs: UnboundedSender<Input>,
}

impl Control {
    /// Sets the number of users of externally controlled scenarios.
    pub fn set_users(&self, users: u32) {
        let _ = self.inputs.send(Input::Users(users));
    }

    /// Replaces the users of externally controlled scenarios that still wait for an answer to a request sent before
    /// `moment`, and to them alone: each finishes its iteration if it ever can and leaves, while a fresh user takes its
    /// place at once. Meant for a load that was made lighter at `moment`: who got stuck under the heavier one says nothing
    /// about it.
    pub fn relieve(&self, moment: Moment) {
        let _ = self.inputs.send(Input::Relieve(moment));
    }

    /// Ends the run.
    pub fn stop(&self, how: Stop) {
        let _ = self.inputs.send(Input::Stop(how));
    }
}

/// How a run is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// No new iterations; running ones may finish within `gracefulStop`, then comes teardown.
    Graceful,
    /// The same; and a teardown that goes on already is given a few seconds more, not all of its time.
    Soon,
    /// Cut everything now, without teardown; still flush all windows and totals.
    Now,
}

/// What happens in a run.
#[derive(Debug)]
pub enum Event {
    /// The users that the plan needs are made.
    Ready {
        /// How many.
        users: u32,
    },
    /// `setup()` is over.
    SetupDone,
    /// The first connection to this address.
    Contacted {
        /// The host that was asked for.
        host: String,
        /// Where it was found.
        address: SocketAddr,
    },
    /// A second is over.
    Window(Box<Window>),
    /// A script logged something.
    Log(LogLine),
    /// Totals so far, every two seconds if a threshold may end the run.
    Snapshot(Box<Summary>),
    /// The run is over, and so are its threads.
    Ended(Box<Ended>),
}

/// How a run ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Why.
    pub reason: EndReason,
    /// Whether the script marked it as failed (`test.fail`).
    pub failed: bool,
    /// Its totals; thresholds are for others to judge.
    pub summary: Summary,
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// All scenarios ran to their end.
    Completed,
    /// It was stopped from outside.
    Stopped,
    /// Users could not be made.
    InitFailed(String),
    /// `setup()` threw.
    SetupFailed(String),
    /// `setup()` took too long.
    SetupTimedOut,
    /// `teardown()` threw.
    TeardownFailed(String),
    /// `teardown()` took too long.
    TeardownTimedOut,
    /// The script wanted it.
    Aborted(String),
    /// The script used something that is not supported: what, and where.
    Unsupported(String),
    /// An address was asked for that is not permitted: the permit's sentence.
    Refused(String),
}

/// Starts a run.
///
/// # Errors
/// If the plan has no scenario, or the system gives no thread.
#[expect(clippy::needless_pass_by_value, reason = "callers hand their plan and factory over; each thread gets a clone")]
pub fn start(plan: Arc<Plan>, factory: Arc<dyn UserFactory>, options: Options) -> Result<Running, StartError> {
    if plan.scenarios.is_empty() {
        return Err(StartError::NoScenario);
    }
    let workers = match options.workers {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        workers => workers,
    };
    let (conductor, outfits, running) = assemble(&plan, &factory, workers, &options);
    let mut threads = Vec::with_capacity(workers);
    for outfit in outfits {
        let name = format!("load-{}", outfit.worker);
        threads.push(thread(name, move || work(outfit))?);
    }
    // Should this thread be refused, its workers see their commands end, and end too.
    thread("conductor".to_owned(), move || conduct(conductor, threads))?;
    Ok(running)
}

/// An outfit that can be sent to its thread.
struct Kit {
    plan: Arc<Plan>,
    factory: Arc<dyn UserFactory>,
    clock: Clock,
    worker: usize,
    workers: usize,
    shared: Vec<Arc<Shared>>,
    progress: Arc<Progress>,
    permit: Permit,
    pace: Option<Arc<Pace>>,
    samples: Option<SampleSender>,
    commands: UnboundedReceiver<worker::Command>,
    inputs: UnboundedSender<Input>,
}

impl Kit {
    fn outfit(self) -> Outfit {
        let Self { plan, factory, clock, worker, workers, shared, progress, permit, pace, samples, commands, inputs } =
            self;
        let report = Rc::new(move |report| {
            // A conductor that has lost its patience needs no report.
            let _ = inputs.send(Input::Report(report));
        });
        let outlet = samples.map(|samples| Outlet::new(samples, clock));
        Outfit { plan, factory, clock, worker, workers, shared, progress, permit, pace, outlet, commands, report }
    }
}

fn assemble(
    plan: &Arc<Plan>,
    factory: &Arc<dyn UserFactory>,
    workers: usize,
    options: &Options,
) -> (Conductor, Vec<Kit>, Running) {
    let (inputs, conducted) = unbounded_channel();
    let (events, heard) = unbounded_channel();
    let shared: Vec<_> = plan.scenarios.iter().map(|_| Arc::new(Shared::new(workers))).collect();
    let clock = Clock::new(options.beginning);
    let pace = plan.network.requests_per_s.map(|rate| Arc::new(Pace::new(rate)));
    let progress = Arc::new(Progress::of_run(clock, workers, plan.scenarios.len()));
    let kit = |worker| {
        let (command, commands) = unbounded_channel();
        let (plan, factory, shared, inputs) = (plan.clone(), factory.clone(), shared.clone(), inputs.clone());
        let (progress, permit) = (progress.clone(), options.permit.clone());
        let (pace, samples) = (pace.clone(), options.samples.clone());
        let kit =
            Kit { plan, factory, clock, worker, workers, shared, progress, permit, pace, samples, commands, inputs };
        (command, kit)
    };
    let (commands, kits) = (0..workers).map(kit).unzip();
    let conductor = Conductor {
        plan: plan.clone(),
        clock,
        workers: commands,
        inputs: conducted,
        events,
        collector: Collector::new(
            workers,
            options.samples.clone().map(|samples| (Outlet::new(samples, clock), plan.clone())),
        ),
        progress,
        contacted: Vec::new(),
        refused: None,
        abandoned: false,
        is_stuck: false,
    };
    (conductor, kits, Running { events: heard, control: Control { inputs } })
}

pub(crate) fn thread<T: Send + 'static>(
    name: String,
    body: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, StartError> {
    std::thread::Builder::new().name(name).spawn(body).map_err(StartError::Thread)
}

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().expect("the kernel gives a poller to each thread")
}

fn work(kit: Kit) {
    let runtime = runtime();
    LocalSet::new().block_on(&runtime, worker::work(kit.outfit()));
    // A name that is still being looked up must not hold up the end.
    runtime.shutdown_background();
}

fn conduct(conductor: Conductor, threads: Vec<JoinHandle<()>>) {
    let events = conductor.events.clone();
    let (ended, all_ended) = runtime().block_on(conductor.conduct());
    if all_ended {
        for thread in threads {
            // A worker that panicked has said so; what the others saw still counts.
            let _ = thread.join();
        }
    }
    let _ = events.send(Event::Ended(ended));
}

/// A whole run inside the caller's runtime, so that a paused clock governs all of it.
#[cfg(test)]
pub(crate) fn start_local(plan: Plan, factory: &Arc<dyn UserFactory>, workers: usize) -> Running {
    let beginning = tokio::time::Instant::now().into_std();
    let options = Options { workers, beginning, permit: Permit::all(), samples: None };
    let (conductor, kits, running) = assemble(&Arc::new(plan), factory, workers, &options);
    for kit in kits {
        tokio::task::spawn_local(worker::work(kit.outfit()));
    }
    tokio::task::spawn_local(async move {
        let events = conductor.events.clone();
        let (ended, _) = conductor.conduct().await;
        let _ = events.send(Event::Ended(ended));
    });
    running
}
