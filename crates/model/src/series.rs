//! What the probes saw: series of points, each about one subject.

use serde::{Deserialize, Serialize};

use crate::signal::Kind;
use crate::unit::{Interval, Moment};

/// What part of the stack a subject is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// This program.
    Generator,
    /// The machine that everything under watch runs on.
    Host,
    /// The service under test: its process with all children.
    Service,
    /// A database the service talks to.
    Database,
    /// A cache the service talks to.
    Cache,
    /// Another peer of the service.
    Upstream,
}

/// Something that is watched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// Short and unique in a run: `svc`, `db`, `host`, `gen`.
    pub id: String,
    /// What part of the stack it is.
    pub role: Role,
    /// What people call it: `uuid-api`, `postgres 127.0.0.1:5432`.
    pub name: String,
    /// Its main process, if it is one.
    pub pid: Option<u32>,
}

/// Points of one signal of one subject, rising in time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Whom it is about: [`Subject::id`].
    pub subject: String,
    /// What it is: the name of a [`crate::signal::Signal`].
    pub signal: String,
    /// Whether values add up or stand for themselves.
    pub kind: Kind,
    /// The points.
    pub points: Vec<Point>,
}

/// One reading.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// When it was read.
    pub at: Moment,
    /// What it said, in the signal's unit.
    pub value: f64,
}

impl Series {
    /// The last reading before or at `at`.
    pub fn at(&self, at: Moment) -> Option<f64> {
        let behind = self.points.partition_point(|point| point.at <= at);
        behind.checked_sub(1).map(|index| self.points[index].value)
    }

    /// The readings inside `interval`.
    pub fn within(&self, interval: Interval) -> &[Point] {
        let from = self.points.partition_point(|point| point.at < interval.from);
        let to = self.points.partition_point(|point| point.at < interval.to);
        &self.points[from..to]
    }

    /// Mean of a Gauge's readings inside `interval`; `None` without readings.
    pub fn mean(&self, interval: Interval) -> Option<f64> {
        let points = self.within(interval);
        (!points.is_empty()).then(|| points.iter().map(|point| point.value).sum::<f64>() / points.len() as f64)
    }

    /// Largest of the readings inside `interval`.
    pub fn max(&self, interval: Interval) -> Option<f64> {
        self.within(interval).iter().map(|point| point.value).reduce(f64::max)
    }

    /// Growth of a Counter per second of `interval`, from the readings nearest inside it; `None` with fewer than two
    /// readings or if the counter fell (its owner restarted).
    pub fn rate(&self, interval: Interval) -> Option<f64> {
        let points = self.within(interval);
        let (first, last) = (points.first()?, points.last()?);
        let seconds = last.at.since(first.at).as_secs_f64();
        (seconds > 0.0 && last.value >= first.value).then(|| (last.value - first.value) / seconds)
    }

    /// Growth of a Counter over `interval`, the edges taken from the readings nearest before them.
    pub fn growth(&self, interval: Interval) -> Option<f64> {
        let first = self.at(interval.from).or_else(|| self.within(interval).first().map(|point| point.value))?;
        let last = self.at(interval.to)?;
        (last >= first).then_some(last - first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(points: &[(u64, f64)]) -> Series {
        let points = points.iter().map(|&(second, value)| Point { at: Moment(second * 1_000_000_000), value });
        Series { subject: "svc".into(), signal: "x".into(), kind: Kind::Counter, points: points.collect() }
    }

    fn seconds(from: u64, to: u64) -> Interval {
        Interval::new(Moment(from * 1_000_000_000), Moment(to * 1_000_000_000))
    }

    #[test]
    fn rates_use_only_readings_inside() {
        let series = series(&[(0, 0.0), (1, 10.0), (2, 30.0), (3, 60.0), (4, 1000.0)]);
        assert_eq!(series.rate(seconds(1, 4)), Some(25.0));
        assert_eq!(series.growth(seconds(1, 4)), Some(990.0));
        assert_eq!(series.rate(seconds(4, 9)), None);
    }

    #[test]
    fn a_restart_is_no_rate() {
        assert_eq!(series(&[(0, 50.0), (1, 3.0)]).rate(seconds(0, 2)), None);
    }
}
