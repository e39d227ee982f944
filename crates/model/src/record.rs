//! The run record: everything one run produced, and its on-disk form – one JSON entry a line, so that a run that was
//! killed leaves a readable record. Writing and reading go through `Write` and `BufRead`; files are the caller's.

mod compact;

use std::io::{self, BufRead, Write};

use serde::{Deserialize, Serialize};

use crate::plan::Plan;
use crate::series::{Point, Series, Subject};
use crate::signal::Kind;
use crate::summary::Summary;
use crate::unit::{Interval, Moment};
use crate::verdict::{Phase, Verdict};
use crate::window::Window;

/// The version of the on-disk form.
pub const VERSION: u32 = 1;

/// Everything one run produced.
#[derive(Clone, Debug, Default)]
pub struct RunRecord {
    /// Where and with what it was made.
    pub header: Option<Header>,
    /// What was asked for.
    pub plan: Option<Plan>,
    /// Who was watched.
    pub subjects: Vec<Subject>,
    /// Load levels, in the order they were taken.
    pub steps: Vec<StepSpan>,
    /// One window a second.
    pub windows: Vec<Window>,
    /// What the probes saw.
    pub series: Vec<Series>,
    /// What happened, and what could not be read.
    pub notes: Vec<Note>,
    /// Totals.
    pub summary: Option<Summary>,
    /// The answer.
    pub verdict: Option<Verdict>,
}

/// Where and with what a record was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// [`VERSION`].
    pub version: u32,
    /// Version of the program.
    pub program: String,
    /// `find` or `run`.
    pub command: String,
    /// When it began, RFC 3339.
    pub began_at: String,
    /// The machine.
    pub machine: Machine,
}

/// The machine that a record was made on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Kernel name and release.
    pub kernel: String,
    /// Processor model.
    pub cpu: String,
    /// Cores online.
    pub cores: u32,
    /// Memory in bytes.
    pub memory_bytes: u64,
}

/// A load level and the part of it that was measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepSpan {
    /// Why it was taken.
    pub phase: Phase,
    /// Users.
    pub users: u64,
    /// From the change of load to its end.
    pub whole: Interval,
    /// The part behind the settling time.
    pub measured: Interval,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// When.
    pub at: Moment,
    /// How much it matters.
    pub level: Level,
    /// What, in a sentence. Never holds a secret.
    pub text: String,
}

/// How much a note matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// For those who look for it.
    Debug,
    /// Good to know.
    Info,
    /// Results may mean less than they seem.
    Warn,
    /// Something did not work.
    Error,
}

/// One reading of one subject, as probes report it.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Whom it is about.
    pub subject: String,
    /// What it is.
    pub signal: String,
    /// Whether values add up.
    pub kind: Kind,
    /// When and how much.
    pub point: Point,
}

/// One line of a record.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// See [`RunRecord::header`]; the first line.
    Header(Header),
    /// See [`RunRecord::plan`].
    Plan(Box<Plan>),
    /// See [`RunRecord::subjects`].
    Subject(Subject),
    /// See [`RunRecord::steps`].
    Step(StepSpan),
    /// See [`RunRecord::windows`].
    Window(Box<Window>),
    /// Readings of one moment.
    Readings(#[serde(with = "compact")] Vec<Reading>),
    /// See [`RunRecord::notes`].
    Note(Note),
    /// See [`RunRecord::summary`].
    Summary(Box<Summary>),
    /// See [`RunRecord::verdict`].
    Verdict(Box<Verdict>),
}

/// Why a record could not be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// Reading failed.
    #[error("reading the record failed")]
    Io(#[from] io::Error),
    /// It does not begin as a record does.
    #[error("this is no plimsoll record: its first line is not a header")]
    NotARecord,
    /// It was written by a newer program.
    #[error("the record has version {0}, this program reads up to {VERSION}: use a newer plimsoll")]
    TooNew(u32),
    /// A line in the middle is damaged.
    #[error("line {line} of the record is damaged")]
    Damaged {
        /// Counted from 1.
        line: usize,
        /// What the parser said.
        source: serde_json::Error,
    },
}

impl Entry {
    /// Writes this entry as one line.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write(&self, mut writer: impl Write) -> io::Result<()> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        writer.write_all(&line)
    }
}

impl RunRecord {
    /// Bounds the memory of what is kept, however long the run is: to be called behind each window. The last one loses its
    /// endpoints, which nobody looks at before the end; beyond `kept_max` windows two neighbours of the older half become
    /// one, and every other point of the older half of a series goes.
    pub fn condense(&mut self, kept_max: usize) {
        if let Some(window) = self.windows.last_mut() {
            window.endpoints.clear();
            window.pack();
        }
        if self.windows.len() > kept_max {
            let newer = self.windows.split_off(kept_max / 2);
            let mut older: Vec<Window> = Vec::with_capacity(kept_max);
            for (index, window) in self.windows.drain(..).enumerate() {
                match older.last_mut().filter(|_| index % 2 == 1) {
                    Some(first) => {
                        first.join(&window);
                        first.pack();
                    }
                    None => older.push(window),
                }
            }
            older.extend(newer);
            self.windows = older;
        }
        for series in self.series.iter_mut().filter(|series| series.points.len() > 4 * kept_max) {
            let mut index = 0;
            series.points.retain(|_| {
                index += 1;
                index > 2 * kept_max || index % 2 == 0
            });
        }
    }

    /// Takes one entry in.
    pub fn push(&mut self, entry: Entry) {
        match entry {
            Entry::Header(header) => self.header = Some(header),
            Entry::Plan(plan) => self.plan = Some(*plan),
            Entry::Subject(subject) => {
                self.subjects.retain(|known| known.id != subject.id);
                self.subjects.push(subject);
            }
            Entry::Step(step) => self.steps.push(step),
            Entry::Window(window) => self.windows.push(*window),
            Entry::Readings(readings) => readings.into_iter().for_each(|reading| self.read(reading)),
            Entry::Note(note) => self.notes.push(note),
            Entry::Summary(summary) => self.summary = Some(*summary),
            Entry::Verdict(verdict) => self.verdict = Some(*verdict),
        }
    }

    fn read(&mut self, reading: Reading) {
        let known = |series: &&mut Series| series.subject == reading.subject && series.signal == reading.signal;
        match self.series.iter_mut().find(known) {
            Some(series) => series.points.push(reading.point),
            None => self.series.push(Series {
                subject: reading.subject,
                signal: reading.signal,
                kind: reading.kind,
                points: vec![reading.point],
            }),
        }
    }

    /// Reads a record. A last line that was cut off is left out; anything else that is damaged is an error.
    ///
    /// # Errors
    /// See [`RecordError`].
    pub fn load(reader: impl BufRead) -> Result<Self, RecordError> {
        let mut record = Self::default();
        // Bytes, since a line may have been cut off in the middle of a character.
        let mut lines = reader.split(b'\n').enumerate().peekable();
        while let Some((index, line)) = lines.next() {
            match serde_json::from_slice::<Entry>(&line?) {
                Ok(Entry::Header(header)) if header.version > VERSION => {
                    return Err(RecordError::TooNew(header.version));
                }
                Ok(entry) => {
                    if index == 0 && !matches!(entry, Entry::Header(_)) {
                        return Err(RecordError::NotARecord);
                    }
                    record.push(entry);
                }
                Err(_) if index == 0 => return Err(RecordError::NotARecord),
                Err(_) if lines.peek().is_none() => break,
                Err(source) => return Err(RecordError::Damaged { line: index + 1, source }),
            }
        }
        if record.header.is_none() { Err(RecordError::NotARecord) } else { Ok(record) }
    }

    /// The series of a signal of a subject.
    pub fn series(&self, subject: &str, signal: &str) -> Option<&Series> {
        self.series.iter().find(|series| series.subject == subject && series.signal == signal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines() -> Vec<u8> {
        let header = Header {
            version: VERSION,
            program: "0.1.0".into(),
            command: "find".into(),
            began_at: "2026-11-30T12:00:00Z".into(),
            machine: Machine::default(),
        };
        let mut bytes = Vec::new();
        Entry::Header(header).write(&mut bytes).unwrap();
        let mut window = Window { users: 3, ..Window::default() };
        window.requests.duration.record_ms(12.5);
        Entry::Window(Box::new(window)).write(&mut bytes).unwrap();
        let reading = |at, value| {
            let point = Point { at: Moment(at), value };
            Reading { subject: "svc".into(), signal: "cpu.run".into(), kind: Kind::Counter, point }
        };
        Entry::Readings(vec![reading(7, 1.5), reading(8, f64::NAN), reading(9, 2.5)]).write(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn a_record_survives_its_on_disk_form() {
        let record = RunRecord::load(lines().as_slice()).unwrap();
        assert_eq!(record.windows[0].requests.duration.count(), 1);
        let series = record.series("svc", "cpu.run").unwrap();
        assert_eq!(series.points, [(7, 1.5), (9, 2.5)].map(|(at, value)| Point { at: Moment(at), value }));
        assert_eq!(series.kind, Kind::Counter);
    }

    #[test]
    fn a_record_of_a_long_run_is_condensed_and_loses_no_request() {
        const KEPT_MAX: usize = 64;
        let mut record = RunRecord::default();
        for second in 0..5 * KEPT_MAX as u64 {
            let at = |second: u64| Moment(second * 1_000_000_000);
            let interval = crate::unit::Interval::new(at(second), at(second + 1));
            let mut window = Window { interval, users: 7, active_mean: 7.0, iterations: 2, ..Window::default() };
            window.requests.duration.record_ms(5.0);
            record.push(Entry::Window(Box::new(window)));
            record.condense(KEPT_MAX);
        }
        assert!(record.windows.len() <= KEPT_MAX, "{}", record.windows.len());
        let count = |value: fn(&Window) -> u64| record.windows.iter().map(value).sum::<u64>();
        assert_eq!(count(|window| window.iterations), 10 * KEPT_MAX as u64);
        assert_eq!(count(|window| window.requests.duration.count()), 5 * KEPT_MAX as u64);
        let together = |pair: &[Window]| pair[0].interval.to == pair[1].interval.from;
        assert!(record.windows.windows(2).all(together), "without gaps");
        assert!(record.windows.iter().all(|window| window.users == 7 && (window.active_mean - 7.0).abs() < 1e-9));
        assert_eq!(record.windows.last().map(|window| window.interval.seconds()), Some(1.0));
    }

    #[test]
    fn a_cut_last_line_is_left_out_and_a_cut_middle_is_an_error() {
        let bytes = lines();
        let record = RunRecord::load(&bytes[..bytes.len() - 20]).unwrap();
        assert!(record.series.is_empty());
        let half_a_letter = RunRecord::load([&bytes[..], b"{\"note\":{\"text\":\"\xc3"].concat().as_slice()).unwrap();
        assert_eq!(half_a_letter.series.len(), 1);
        let damaged = String::from_utf8(bytes).unwrap().replacen("\"window\"", "\"wind", 1);
        assert!(matches!(RunRecord::load(damaged.as_bytes()), Err(RecordError::Damaged { line: 2, .. })));
        assert!(matches!(RunRecord::load("hello\n".as_bytes()), Err(RecordError::NotARecord)));
    }
}
