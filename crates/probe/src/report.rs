//! What leaves this room: reports of readings, of subjects found and of things that cannot be seen.

use model::record::Reading;
use model::series::{Point, Subject};
use model::signal::Signal;
use model::unit::Moment;

/// Something that the probes have to say.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// A subject that was found, or found again under another process, after the beginning.
    Subject(Subject),
    /// Readings of one moment.
    Readings(Vec<Reading>),
    /// One sentence: what cannot be read, why, and what would give it. Never holds a secret.
    Notice(String),
    /// The same about something that was asked to be watched.
    Warning(String),
}

/// Readings of one moment, as collectors write them down.
#[derive(Debug)]
pub(crate) struct Sheet {
    at: Moment,
    readings: Vec<Reading>,
}

impl Sheet {
    pub(crate) fn new(at: Moment) -> Self {
        Self { at, readings: Vec::new() }
    }

    pub(crate) fn put(&mut self, subject: &str, signal: Signal, value: f64) {
        self.readings.push(Reading {
            subject: subject.to_owned(),
            signal: signal.name.to_owned(),
            kind: signal.kind,
            point: Point { at: self.at, value },
        });
    }

    /// Writes `value` down if there is one.
    pub(crate) fn put_some(&mut self, subject: &str, signal: Signal, value: Option<f64>) {
        if let Some(value) = value {
            self.put(subject, signal, value);
        }
    }

    pub(crate) fn at(&self) -> Moment {
        self.at
    }

    pub(crate) fn into_readings(self) -> Vec<Reading> {
        self.readings
    }
}

#[cfg(test)]
impl Sheet {
    /// What was written down about a signal of a subject, last.
    pub(crate) fn value(&self, subject: &str, signal: Signal) -> Option<f64> {
        let wanted = |reading: &&Reading| reading.subject == subject && reading.signal == signal.name;
        self.readings.iter().rev().find(wanted).map(|reading| reading.point.value)
    }
}
