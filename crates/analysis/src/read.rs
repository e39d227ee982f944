//! Reads signals of subjects over one interval. A signal that was not recorded is `None`: never a guess, never zero.

use model::record::RunRecord;
use model::series::{Role, Subject};
use model::signal::Signal;
use model::unit::Interval;

/// A record seen through one interval.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    record: &'a RunRecord,
    interval: Interval,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(record: &'a RunRecord, interval: Interval) -> Self {
        Self { record, interval }
    }

    /// The first subject of this role.
    pub(crate) fn subject(&self, role: Role) -> Option<&'a Subject> {
        self.record.subjects.iter().find(|subject| subject.role == role)
    }

    /// Mean of a gauge.
    pub(crate) fn gauge(&self, subject: &str, signal: Signal) -> Option<f64> {
        self.record.series(subject, signal.name)?.mean(self.interval)
    }

    /// Largest reading of a gauge.
    pub(crate) fn max(&self, subject: &str, signal: Signal) -> Option<f64> {
        self.record.series(subject, signal.name)?.max(self.interval)
    }

    /// Least reading of a gauge in the whole record.
    pub(crate) fn least_ever(&self, subject: &str, signal: Signal) -> Option<f64> {
        let points = &self.record.series(subject, signal.name)?.points;
        points.iter().map(|point| point.value).reduce(f64::min)
    }

    /// Growth of a counter per second.
    pub(crate) fn rate(&self, subject: &str, signal: Signal) -> Option<f64> {
        self.record.series(subject, signal.name)?.rate(self.interval)
    }

    /// The subject that reported this signal, whoever it is: the service first, then the others; never the generator.
    pub(crate) fn whoever(&self, signal: Signal) -> Option<&'a str> {
        let rank = |subject: &&Subject| match subject.role {
            Role::Service => 0,
            Role::Database => 1,
            Role::Host => 2,
            Role::Cache | Role::Upstream | Role::Generator => 3,
        };
        let mut subjects: Vec<_> =
            self.record.subjects.iter().filter(|subject| subject.role != Role::Generator).collect();
        subjects.sort_by_key(rank);
        subjects.into_iter().map(|subject| subject.id.as_str()).find(|id| self.record.series(id, signal.name).is_some())
    }
}
