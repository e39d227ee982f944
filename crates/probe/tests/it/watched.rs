//! A run of the probes, with everything they reported so far.
#![expect(clippy::unwrap_used, reason = "a helper of tests")]

use std::net::SocketAddr;
use std::time::Instant;

use model::record::{Entry, RunRecord};
use model::series::Subject;
use model::signal::Signal;
use probe::{Report, Settings, Watching, discover};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// Readings come at least once a second: after this many reports a condition will not come true any more.
const REPORTS_MAX: usize = 60;

pub(crate) struct Watched {
    pub(crate) record: RunRecord,
    pub(crate) notices: Vec<String>,
    pub(crate) warnings: Vec<String>,
    reports: UnboundedReceiver<Report>,
    watching: Watching,
}

/// The address and the specs to watch; the generator is played by `own_pid`.
pub(crate) fn settings(target: Option<SocketAddr>, specs: &[&str], own_pid: u32) -> Settings {
    Settings {
        target,
        specs: specs.iter().map(|spec| spec.parse().unwrap()).collect(),
        own_pid,
        proc_root: "/proc".into(),
        sys_root: "/sys".into(),
    }
}

impl Watched {
    #[expect(clippy::disallowed_methods, reason = "a run begins now")]
    pub(crate) fn begin(settings: Settings) -> Self {
        let (out, reports) = unbounded_channel();
        let discovered = discover(settings);
        let mut record = RunRecord::default();
        discovered.subjects.iter().cloned().for_each(|subject| record.push(Entry::Subject(subject)));
        let (notices, warnings) = (discovered.notices.clone(), discovered.warnings.clone());
        Self { record, notices, warnings, reports, watching: discovered.watch(Instant::now(), out) }
    }

    /// Takes reports in until `is_so`.
    pub(crate) fn until(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) {
        for _ in 0..REPORTS_MAX {
            if is_so(self) {
                return;
            }
            match self.reports.blocking_recv() {
                Some(Report::Subject(subject)) => self.record.push(Entry::Subject(subject)),
                Some(Report::Readings(readings)) => self.record.push(Entry::Readings(readings)),
                Some(Report::Notice(notice)) => self.notices.push(notice),
                Some(Report::Warning(warning)) => self.warnings.push(warning),
                None => break,
            }
        }
        panic!(
            "never: {what}; subjects {:?}, notices {:?}, warnings {:?}, readings {:#?}",
            self.record.subjects,
            self.notices,
            self.warnings,
            self.last()
        );
    }

    /// Takes the reports of about so many seconds in.
    pub(crate) fn seconds(&mut self, count: usize) {
        let busy = |watched: &Self| watched.points("host", model::signal::HOST_BUSY).len();
        let end = busy(self) + count;
        self.until("seconds pass", |watched| busy(watched) >= end);
    }

    pub(crate) fn subject(&self, id: &str) -> Option<&Subject> {
        self.record.subjects.iter().find(|subject| subject.id == id)
    }

    pub(crate) fn points(&self, subject: &str, signal: Signal) -> Vec<f64> {
        let series = self.record.series(subject, signal.name);
        series.map_or_else(Vec::new, |series| series.points.iter().map(|point| point.value).collect())
    }

    /// The last reading.
    pub(crate) fn value(&self, subject: &str, signal: Signal) -> Option<f64> {
        self.points(subject, signal).last().copied()
    }

    pub(crate) fn stop(self) {
        self.watching.stop();
    }

    fn last(&self) -> Vec<String> {
        let series = self.record.series.iter();
        series.map(|series| format!("{} {} {:?}", series.subject, series.signal, series.points.last())).collect()
    }
}
