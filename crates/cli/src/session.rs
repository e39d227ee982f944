//! One run: engine, probes, record, screen and signals, held together. The only code that calls engine and probe, and
//! the only file that reads the clock.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use engine::user::UserFactory;
use engine::{Control, EndReason, Ended, Event, Stop};
use model::plan::Plan;
use model::record::{Entry, Level, Note, RunRecord, StepSpan};
use model::summary::Summary;
use model::unit::{Interval, Moment};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use view::live::Progress;

use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::record_file::RecordFile;
use crate::signals::Signals;
use crate::target::{Guard, refusal};

/// What a session needs.
pub(crate) struct Settings {
    /// `find`, `run` or `lab`.
    pub(crate) command: &'static str,
    /// What is offered.
    pub(crate) plan: Arc<Plan>,
    /// Who offers it.
    pub(crate) factory: Arc<dyn UserFactory>,
    /// What to watch.
    pub(crate) watching: Watching,
    /// Which hosts may be loaded.
    pub(crate) guard: Guard,
    /// Where the record goes.
    pub(crate) file: Option<RecordFile>,
    /// Worker threads; `None` is one per core.
    pub(crate) workers: Option<usize>,
    /// Where single samples go.
    pub(crate) samples: Option<engine::SampleSender>,
    /// What outputs have to say meanwhile.
    pub(crate) notices: Option<UnboundedReceiver<String>>,
}

/// What to watch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watching {
    /// Where the load goes, if that is known before it begins.
    pub(crate) target: Option<SocketAddr>,
    /// What was named with `--watch`.
    pub(crate) specs: Vec<probe::WatchSpec>,
}

/// Windows that the record of a run keeps apart: its seconds are looked at together.
const KEPT_MAX_RUN: usize = 240;
/// The same of a search, whose steps are looked at second by second.
const KEPT_MAX_SEARCH: usize = 4096;

/// A run that goes on.
pub(crate) struct Session {
    /// Everything that was seen so far.
    pub(crate) record: RunRecord,
    output: Output,
    events: UnboundedReceiver<Event>,
    control: Control,
    users: u64,
    watching: Option<probe::Watching>,
    specs: Vec<probe::WatchSpec>,
    target: Option<SocketAddr>,
    reports: UnboundedReceiver<probe::Report>,
    report_sender: tokio::sync::mpsc::UnboundedSender<probe::Report>,
    signals: Signals,
    file: Option<RecordFile>,
    beginning: Instant,
    ended: Option<Box<Ended>>,
    rules: Rules,
    /// Windows that the record keeps apart.
    kept_max: usize,
    notices: Option<UnboundedReceiver<String>>,
}

/// Rules that may end the run while it goes on.
struct Rules {
    plan: Arc<Plan>,
    broken: Option<String>,
}

/// Why [`Session::until`] came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    /// The moment has come and its windows are in the record.
    Moment,
    /// The run ended: by itself, by an error or by a signal.
    End,
}

/// How a session ended.
pub(crate) struct Outcome {
    /// Everything that was seen.
    pub(crate) record: RunRecord,
    /// Why the engine ended.
    pub(crate) reason: EndReason,
    /// Whether the script marked it as failed.
    pub(crate) failed: bool,
    /// Whether a signal ended it.
    pub(crate) signalled: bool,
    /// The rule that ended it early, if one did.
    pub(crate) broken_early: Option<String>,
    /// To go on printing.
    pub(crate) output: Output,
    /// To write the verdict into.
    pub(crate) file: Option<RecordFile>,
    /// For what comes behind.
    pub(crate) signals: Signals,
}

impl Session {
    /// As [`Self::begin_with`], with signals that are caught from here on.
    ///
    /// # Errors
    /// If signals cannot be caught or the engine cannot start.
    pub(crate) fn begin(settings: Settings, output: Output) -> Result<Self, Failure> {
        Self::begin_with(Signals::catch()?, settings, output)
    }

    /// Begins to offer the load and to watch.
    ///
    /// # Errors
    /// If the engine cannot start.
    pub(crate) fn begin_with(signals: Signals, settings: Settings, output: Output) -> Result<Self, Failure> {
        let beginning = now();
        let (report_sender, reports) = unbounded_channel();
        let Settings { command, plan, factory, watching, guard, file, workers, samples, notices } = settings;
        let workers = workers.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
        let options = engine::Options { workers, beginning, permit: permit(guard), samples };
        let running = engine::start(plan.clone(), factory, options).context("cannot start the load generator")?;
        let mut session = Self {
            record: RunRecord::default(),
            output,
            events: running.events,
            control: running.control,
            users: 0,
            watching: None,
            specs: watching.specs,
            target: watching.target,
            reports,
            report_sender,
            signals,
            file,
            beginning,
            ended: None,
            rules: Rules { plan: plan.clone(), broken: None },
            kept_max: if command == "run" { KEPT_MAX_RUN } else { KEPT_MAX_SEARCH },
            notices,
        };
        session.keep(Entry::Header(crate::machine::header(command)));
        session.keep(Entry::Plan(Box::new(Plan::clone(&plan))));
        if session.target.is_some() || !session.specs.is_empty() {
            session.watch();
        }
        Ok(session)
    }

    /// Time since the beginning.
    pub(crate) fn elapsed(&self) -> Duration {
        now().duration_since(self.beginning)
    }

    /// Sets the number of users of an externally controlled scenario; returns the one before.
    pub(crate) fn set_users(&mut self, users: u64) -> u64 {
        self.control.set_users(u32::try_from(users).unwrap_or(u32::MAX));
        std::mem::replace(&mut self.users, users)
    }

    /// Replaces users that wait for an answer since before `moment`.
    pub(crate) fn relieve(&self, moment: Moment) {
        self.control.relieve(moment);
    }

    /// Puts a step into the record, in place of the last one if that is the same step held longer.
    pub(crate) fn step(&mut self, span: StepSpan) {
        if self.record.steps.last().is_some_and(|last| last.whole.from == span.whole.from) {
            self.record.steps.pop();
        }
        self.keep(Entry::Step(span));
    }

    /// Goes on until `moment` has come and the record holds the windows before it, or until the run ends.
    /// `progress` says what to show, once a second.
    pub(crate) async fn until(
        &mut self,
        moment: Option<Moment>,
        progress: &dyn Fn(&RunRecord, Duration) -> Progress,
    ) -> Reached {
        loop {
            if self.ended.is_some() {
                return Reached::End;
            }
            if moment.is_some_and(|moment| self.covers(moment)) {
                return Reached::Moment;
            }
            tokio::select! {
                biased;
                () = self.signals.next() => self.signalled(),
                Some(report) = self.reports.recv() => self.report(report),
                Some(text) = said(&mut self.notices) => self.note(Level::Warn, text),
                event = self.events.recv() => match event {
                    Some(event) => self.event(event, progress),
                    None => return Reached::End,
                },
            }
            if self.signals.count() > 0 && moment.is_some() {
                return Reached::End;
            }
        }
    }

    /// Whether the record holds all windows before `moment`; a window may be missing if nothing happened in it.
    fn covers(&self, moment: Moment) -> bool {
        self.record.windows.last().is_some_and(|window| window.interval.to >= moment)
    }

    /// Ends the load, waits for the last figures, stops watching.
    pub(crate) async fn finish(self) -> Outcome {
        self.control.stop(Stop::Graceful);
        self.conclude().await
    }

    /// Waits for the end of the load, stops watching.
    pub(crate) async fn conclude(mut self) -> Outcome {
        let ending = |record: &RunRecord, elapsed| crate::progress::of(record, "ending", elapsed, None);
        while self.until(None, &ending).await != Reached::End {}
        if let Some(watching) = self.watching.take() {
            watching.stop();
        }
        while let Ok(report) = self.reports.try_recv() {
            self.report(report);
        }
        self.output.script_ends();
        self.output.clear();
        let (reason, failed, summary) = match self.ended.take() {
            Some(ended) => (ended.reason, ended.failed, ended.summary),
            None => (EndReason::Stopped, false, Summary::default()),
        };
        self.keep(Entry::Summary(Box::new(summary)));
        Outcome {
            record: self.record,
            reason,
            failed,
            signalled: self.signals.count() > 0,
            broken_early: self.rules.broken,
            output: self.output,
            file: self.file,
            signals: self.signals,
        }
    }

    fn signalled(&mut self) {
        match self.signals.count() {
            1 => {
                self.output.say(Level::Warn, "stopping: running iterations may finish; press Ctrl-C again to stop now");
                self.control.stop(Stop::Soon);
            }
            2 => {
                self.output.say(Level::Warn, "stopping now");
                self.control.stop(Stop::Now);
            }
            _ => {}
        }
    }

    fn event(&mut self, event: Event, progress: &dyn Fn(&RunRecord, Duration) -> Progress) {
        match event {
            Event::Ready { .. } | Event::SetupDone => {}
            Event::Contacted { host, address } => self.contacted(&host, address),
            Event::Log(line) => self.output.script(line.level, &line.text),
            Event::Window(window) => {
                self.keep(Entry::Window(window));
                let progress = progress(&self.record, self.elapsed());
                self.output.progress(&progress);
            }
            Event::Snapshot(summary) => self.check_rules(&summary),
            Event::Ended(ended) => self.ended = Some(ended),
        }
    }

    fn check_rules(&mut self, summary: &Summary) {
        if self.rules.broken.is_some() {
            return;
        }
        let broken = analysis::threshold::broken_early(summary, &self.rules.plan.thresholds, self.elapsed());
        if let Some(rule) = broken {
            self.output.say(Level::Error, &format!("threshold {rule} is broken and asks to stop: stopping"));
            self.rules.broken = Some(rule);
            self.control.stop(Stop::Graceful);
        }
    }

    /// A script's first connection to a host says what there is to watch.
    fn contacted(&mut self, host: &str, address: SocketAddr) {
        self.note(Level::Debug, format!("loading {host} at {address}"));
        if self.target.is_none() {
            self.target = Some(address);
            if self.watching.is_none() {
                self.watch();
            }
        }
    }

    fn watch(&mut self) {
        let discovered = probe::discover(probe::Settings {
            target: self.target,
            specs: self.specs.clone(),
            own_pid: std::process::id(),
            proc_root: "/proc".into(),
            sys_root: "/sys".into(),
        });
        for subject in discovered.subjects.clone() {
            self.keep(Entry::Subject(subject));
        }
        for warning in discovered.warnings.clone() {
            self.note(Level::Warn, warning);
        }
        for notice in discovered.notices.clone() {
            self.note(Level::Info, notice);
        }
        self.watching = Some(discovered.watch(self.beginning, self.report_sender.clone()));
    }

    fn report(&mut self, report: probe::Report) {
        match report {
            probe::Report::Subject(subject) => self.keep(Entry::Subject(subject)),
            probe::Report::Readings(readings) => self.keep(Entry::Readings(readings)),
            probe::Report::Notice(text) => self.note(Level::Info, text),
            probe::Report::Warning(text) => self.note(Level::Warn, text),
        }
    }

    fn note(&mut self, level: Level, text: String) {
        self.output.say(level, &text);
        self.keep(Entry::Note(Note { at: Moment::after(self.elapsed()), level, text }));
    }

    fn keep(&mut self, entry: Entry) {
        if let Some(file) = &mut self.file
            && let Err(sentence) = file.append(&entry)
        {
            self.output.say(Level::Error, &sentence);
        }
        let is_window = matches!(entry, Entry::Window(_));
        self.record.push(entry);
        if is_window {
            self.record.condense(self.kept_max);
        }
    }
}

impl Outcome {
    /// Whether the run ended before anything of it began.
    pub(crate) fn never_began(&self) -> bool {
        matches!(self.reason, EndReason::InitFailed(_))
    }

    /// The exit code that the end itself asks for, with a sentence where one is due; `None` if the end was a good one.
    pub(crate) fn trouble(&self) -> Option<(Exit, Option<String>)> {
        let because = |exit, text: &str, what: &str| Some((exit, Some(format!("{what}: {text}"))));
        match &self.reason {
            EndReason::InitFailed(text) => because(Exit::ScriptException, text, "the init code of the script failed"),
            EndReason::SetupFailed(text) => because(Exit::ScriptException, text, "setup() failed"),
            EndReason::TeardownFailed(text) => because(Exit::ScriptException, text, "teardown() failed"),
            EndReason::Unsupported(text) => Some((Exit::ScriptException, Some(text.clone()))),
            EndReason::Aborted(text) => because(Exit::Aborted, text, "test aborted"),
            EndReason::Refused(text) => Some((Exit::TargetRefused, Some(text.clone()))),
            EndReason::SetupTimedOut => {
                Some((Exit::SetupTimeout, Some("setup() took longer than setupTimeout allows".to_owned())))
            }
            EndReason::TeardownTimedOut => {
                Some((Exit::TeardownTimeout, Some("teardown() took longer than teardownTimeout allows".to_owned())))
            }
            EndReason::Completed | EndReason::Stopped if self.signalled => Some((Exit::Stopped, None)),
            EndReason::Completed | EndReason::Stopped if self.failed => {
                Some((Exit::MarkedFailed, Some("the script marked the test as failed".to_owned())))
            }
            EndReason::Completed | EndReason::Stopped => None,
        }
    }
}

/// The next notice; never, if there are none.
async fn said(notices: &mut Option<UnboundedReceiver<String>>) -> Option<String> {
    match notices {
        Some(notices) => notices.recv().await,
        None => std::future::pending().await,
    }
}

/// What the engine asks before it connects to an address.
pub(crate) fn permit(guard: Guard) -> engine::Permit {
    engine::Permit::new(
        move |host, address| {
            if guard.permits(host, address) { Ok(()) } else { Err(refusal(host, address)) }
        },
    )
}

/// The first whole second at or behind `moment`: windows begin and end on whole seconds.
pub(crate) fn whole_second(moment: Moment) -> Moment {
    Moment(moment.0.div_ceil(1_000_000_000) * 1_000_000_000)
}

/// The part of a step that is measured, on whole seconds.
pub(crate) fn measured(from: Moment, settle: Duration, length: Duration) -> Interval {
    let begin = whole_second(from + settle);
    Interval::new(begin, whole_second(begin + length))
}

/// The clock of the command line.
#[expect(clippy::disallowed_methods, reason = "the one place of the command line that reads the clock")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
