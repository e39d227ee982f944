//! Leads a run through its phases – init, setup, load, teardown, the last tally – and bounds each of them in time.
//! Workers only ever do what it commands; whatever they answer, the run ends.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use model::plan::{Executor, Plan, Scenario};
use model::summary::Summary;
use model::unit::Moment;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use crate::alarm::NEVER;
use crate::clock::Clock;
use crate::collector::Collector;
use crate::crew::{Errand, Lone};
use crate::net::Passage;
use crate::progress::Progress;
use crate::run::{EndReason, Ended, Event, Stop};
use crate::worker::{Command, Report};

/// What reaches the conductor.
pub(crate) enum Input {
    Report(Report),
    Users(u32),
    Relieve(Moment),
    Stop(Stop),
}

/// How long workers may take for what should take no time: reacting to a cut, closing the books.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long the last tally may take if nobody is in a hurry.
const TALLY_PATIENCE: Duration = Duration::from_secs(10);
/// How long scenarios may go on behind their planned end: each ends by itself unless it cannot.
const OVERTIME: Duration = Duration::from_secs(5);
/// How long a teardown may go on behind a stop that finds it going on.
const TEARDOWN_GRACE: Duration = Duration::from_secs(5);
/// What lies between the command to begin and the beginning, so that all workers hear it in time.
const HEAD_START: Duration = Duration::from_millis(1);

/// See the module.
pub(crate) struct Conductor {
    pub(crate) plan: Arc<Plan>,
    pub(crate) clock: Clock,
    pub(crate) workers: Vec<UnboundedSender<Command>>,
    pub(crate) inputs: UnboundedReceiver<Input>,
    pub(crate) events: UnboundedSender<Event>,
    pub(crate) collector: Collector,
    pub(crate) progress: Arc<Progress>,
    /// Addresses that the load has reached.
    pub(crate) contacted: Vec<SocketAddr>,
    /// Why an address was refused, if one was.
    pub(crate) refused: Option<String>,
    /// Whether nobody listens any more: a load that nobody watches must end.
    pub(crate) abandoned: bool,
    /// Whether a worker did not heed that everything was cut.
    pub(crate) is_stuck: bool,
}

/// What a phase has to react to.
enum Turn {
    Ready(u32),
    InitFailed(String),
    Errand(Lone),
    Aborted(EndReason),
    Idle,
    Finished(usize, Box<Summary>),
    Users(u32),
    Relieve(Moment),
    Stop(Stop),
    /// The deadline passed, or nobody is left.
    Late,
}

/// What is still to be done behind a phase.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hurry {
    /// Teardown.
    No,
    /// Only the last tally, soon.
    Yes,
}

impl Conductor {
    /// Leads the run; returns its end, and whether all workers have ended.
    pub(crate) async fn conduct(mut self) -> (Box<Ended>, bool) {
        let began = self.clock.now();
        let (reason, hurry) = self.phases().await;
        let reason = self.refused.take().map_or(reason, EndReason::Refused);
        let (mut summary, all) = self.last_tally(hurry).await;
        self.collector.rest().into_iter().for_each(|window| self.emit(Event::Window(Box::new(window))));
        let length = self.clock.now().since(began);
        self.collector.complete(&mut summary, Moment::after(length));
        summary.endpoints = self.collector.endpoints();
        (Box::new(Ended { reason, failed: self.progress.is_failed(), summary }), all)
    }

    async fn phases(&mut self) -> (EndReason, Hurry) {
        if let Err(reason) = self.init().await {
            return (reason, Hurry::Yes);
        }
        if let Some(timeout) = self.plan.setup {
            match self.errand(Errand::Setup, timeout).await {
                Lone::Completed => self.emit(Event::SetupDone),
                Lone::Failed(message) => return (EndReason::SetupFailed(message), Hurry::Yes),
                Lone::TimedOut => return (EndReason::SetupTimedOut, Hurry::Yes),
                Lone::Aborted(reason) => return (reason, Hurry::Yes),
                Lone::Stopped => return (EndReason::Stopped, Hurry::Yes),
            }
        }
        let (reason, hurry) = self.load().await;
        if let Some(timeout) = self.plan.teardown.filter(|_| hurry == Hurry::No) {
            self.command(&Command::Release);
            match self.errand(Errand::Teardown, timeout).await {
                Lone::Failed(message) if reason == EndReason::Completed => {
                    return (EndReason::TeardownFailed(message), Hurry::No);
                }
                Lone::TimedOut if reason == EndReason::Completed => return (EndReason::TeardownTimedOut, Hurry::No),
                Lone::Aborted(why) if reason == EndReason::Completed => return (why, Hurry::No),
                Lone::Stopped => return (EndReason::Stopped, Hurry::Yes),
                _ => {}
            }
        }
        (reason, hurry)
    }

    async fn init(&mut self) -> Result<(), EndReason> {
        let mut wanted = None;
        let mut missing = self.workers.len();
        while missing > 0 {
            match self.turn(NEVER).await {
                Turn::Ready(users) => {
                    self.collector.made(users);
                    missing -= 1;
                }
                Turn::InitFailed(message) => return Err(EndReason::InitFailed(message)),
                Turn::Stop(_) => return Err(EndReason::Stopped),
                Turn::Late => return Err(EndReason::InitFailed("a worker ended unexpectedly".to_owned())),
                Turn::Users(users) => wanted = Some(users),
                _ => {}
            }
        }
        let now = self.clock.now();
        self.progress.begins(now);
        self.command(&Command::Open(now));
        // A number of users that was set before the load begins holds from its beginning.
        wanted.into_iter().for_each(|users| self.command(&Command::Users(users)));
        self.emit(Event::Ready { users: self.collector.users_made() });
        Ok(())
    }

    /// Setup or teardown on the first worker. A graceful stop ends setup, and lets teardown go on; one that is wanted
    /// soon lets it go on for a moment.
    async fn errand(&mut self, errand: Errand, timeout: Duration) -> Lone {
        let _ = self.workers[0].send(Command::Errand(errand, timeout));
        let mut until = self.clock.now() + timeout + PATIENCE;
        let (mut hurried, mut stopped) = (false, false);
        loop {
            match self.turn(until).await {
                Turn::Errand(_) if stopped => return Lone::Stopped,
                Turn::Errand(ending) => return ending,
                Turn::Stop(stop) if errand == Errand::Setup || stop == Stop::Now => {
                    stopped = true;
                    until = until.min(self.clock.now() + PATIENCE);
                    self.command(&Command::Cut);
                }
                Turn::Stop(Stop::Soon) if !hurried => {
                    hurried = true;
                    until = until.min(self.clock.now() + TEARDOWN_GRACE);
                }
                Turn::Users(users) => self.command(&Command::Users(users)),
                Turn::Late if stopped => return Lone::Stopped,
                Turn::Late if hurried => {
                    stopped = true;
                    until = self.clock.now() + PATIENCE;
                    self.command(&Command::Cut);
                }
                Turn::Late => return Lone::TimedOut,
                _ => {}
            }
        }
    }

    async fn load(&mut self) -> (EndReason, Hurry) {
        let begin = self.clock.now() + HEAD_START;
        self.progress.load_begins(begin);
        self.command(&Command::Load(begin));
        let mut reason = EndReason::Completed;
        let (mut until, mut cut) = (self.latest_end(begin), false);
        let mut busy = self.workers.len();
        while busy > 0 {
            match self.turn(until).await {
                Turn::Idle => busy -= 1,
                Turn::Users(users) => self.command(&Command::Users(users)),
                Turn::Relieve(moment) => self.command(&Command::Relieve(moment)),
                Turn::Stop(Stop::Graceful | Stop::Soon) if reason == EndReason::Completed => {
                    reason = EndReason::Stopped;
                    let graceful = self.plan.scenarios.iter().map(|scenario| scenario.graceful_stop).max();
                    until = self.clock.now() + graceful.unwrap_or_default() + PATIENCE;
                    self.command(&Command::Halt);
                }
                Turn::Stop(Stop::Graceful | Stop::Soon) => {}
                Turn::Stop(Stop::Now) => {
                    self.cut_off(busy).await;
                    return (if reason == EndReason::Completed { EndReason::Stopped } else { reason }, Hurry::Yes);
                }
                Turn::Aborted(why) if !cut => {
                    reason = why;
                    (until, cut) = (self.clock.now() + PATIENCE, true);
                    self.command(&Command::Cut);
                }
                Turn::InitFailed(message) => {
                    self.cut_off(busy).await;
                    return (EndReason::InitFailed(message), Hurry::Yes);
                }
                Turn::Late if cut || until == NEVER => {
                    self.is_stuck = true;
                    break;
                }
                Turn::Late => {
                    (until, cut) = (self.clock.now() + PATIENCE, true);
                    self.command(&Command::Cut);
                }
                _ => {}
            }
        }
        (reason, Hurry::No)
    }

    /// Cuts everything, and gives the users a moment to say that they were interrupted.
    async fn cut_off(&mut self, mut busy: usize) {
        self.command(&Command::Cut);
        let until = self.clock.now() + PATIENCE / 2;
        while busy > 0 {
            match self.turn(until).await {
                Turn::Idle => busy -= 1,
                Turn::Late => return,
                _ => {}
            }
        }
    }

    async fn last_tally(&mut self, hurry: Hurry) -> (Summary, bool) {
        let now = self.clock.now();
        // The end lies a little ahead, so that what happens at this very moment has a window to lie in.
        self.command(&Command::Finish(now + HEAD_START));
        let until = now + if hurry == Hurry::Yes || self.is_stuck { PATIENCE } else { TALLY_PATIENCE };
        let mut summary = Summary::default();
        let mut missing: Vec<_> = (0..self.workers.len()).collect();
        while !missing.is_empty() {
            match self.turn(until).await {
                Turn::Finished(worker, part) => {
                    summary.merge(&part);
                    missing.retain(|known| *known != worker);
                }
                Turn::Late => break,
                _ => {}
            }
        }
        if !missing.is_empty() {
            summary.limits.insert(self.stuck(&missing));
        }
        (summary, missing.is_empty())
    }

    /// What is to be said of workers that do not end.
    fn stuck(&self, workers: &[usize]) -> String {
        let users: u32 = workers.iter().map(|worker| self.progress.active_on(*worker)).sum();
        format!(
            "{} did not stop: the script is busy in one long operation on {} of {} threads, and their figures are missing.",
            if users == 1 { "1 user".to_owned() } else { format!("{users} users") },
            workers.len(),
            self.workers.len(),
        )
    }

    /// When all scenarios are surely over, if that is planned: what then still runs does not heed its end.
    fn latest_end(&self, begin: Moment) -> Moment {
        let end = |scenario: &Scenario| {
            let ramp_down = match scenario.executor {
                Executor::RampingVus { graceful_ramp_down, .. } => graceful_ramp_down,
                _ => Duration::ZERO,
            };
            Some(scenario.start_time + scenario.executor.duration()? + scenario.graceful_stop.max(ramp_down))
        };
        let ends: Option<Vec<_>> = self.plan.scenarios.iter().map(end).collect();
        ends.and_then(|ends| ends.into_iter().max()).map_or(NEVER, |longest| begin + longest + OVERTIME)
    }

    /// The next thing that matters to the phase; the rest is dealt with here.
    async fn turn(&mut self, until: Moment) -> Turn {
        loop {
            if self.events.is_closed() && !std::mem::replace(&mut self.abandoned, true) {
                return Turn::Stop(Stop::Now);
            }
            let input = if until == NEVER {
                self.inputs.recv().await
            } else {
                let until = self.clock.instant(until);
                tokio::time::timeout_at(until, self.inputs.recv()).await.unwrap_or(None)
            };
            return match input {
                None => Turn::Late,
                Some(Input::Users(users)) => Turn::Users(users),
                Some(Input::Relieve(moment)) => Turn::Relieve(moment),
                Some(Input::Stop(stop)) => Turn::Stop(stop),
                Some(Input::Report(report)) => match report {
                    Report::Ready(users) => Turn::Ready(users),
                    Report::InitFailed(message) => Turn::InitFailed(message),
                    Report::Errand(ending) => Turn::Errand(ending),
                    Report::Aborted(reason) => Turn::Aborted(reason),
                    Report::Idle => Turn::Idle,
                    Report::Finished(worker, summary) => Turn::Finished(worker, summary),
                    Report::Passage(Passage::Contacted { host, address }) => {
                        if !self.contacted.contains(&address) {
                            self.contacted.push(address);
                            self.emit(Event::Contacted { host, address });
                        }
                        continue;
                    }
                    Report::Passage(Passage::Refused(sentence)) => {
                        self.refused.get_or_insert(sentence);
                        Turn::Stop(Stop::Now)
                    }
                    Report::Made => {
                        self.collector.made(1);
                        continue;
                    }
                    Report::Window(second, window) => {
                        let complete = self.collector.window(second, *window);
                        complete.into_iter().for_each(|window| self.emit(Event::Window(Box::new(window))));
                        continue;
                    }
                    Report::Log(lines) => {
                        lines.into_iter().for_each(|line| self.emit(Event::Log(line)));
                        continue;
                    }
                    Report::Snapshot(second, summary) => {
                        let complete = self.collector.snapshot(second, *summary);
                        complete.into_iter().for_each(|summary| self.emit(Event::Snapshot(Box::new(summary))));
                        continue;
                    }
                },
            };
        }
    }

    fn command(&self, command: &Command) {
        for worker in &self.workers {
            // A worker that has ended needs no command.
            let _ = worker.send(command.clone());
        }
    }

    fn emit(&self, event: Event) {
        // Nobody may be listening any more; the run still ends in order.
        let _ = self.events.send(event);
    }
}
