//! Records drawn by hand for tests: load levels with steady figures, told in the words of the signals.

use std::collections::BTreeMap;
use std::time::Duration;

use model::plan::Plan;
use model::record::{Entry, Reading, RunRecord, StepSpan};
use model::series::{Point, Role, Subject};
use model::signal::{Kind, Signal};
use model::unit::{Interval, Moment};
use model::verdict::Phase;
use model::window::{GeneratorWindow, PromiseCount, Requests, Window};

/// Seconds of every level.
const SECONDS: u64 = 10;

/// One load level: steady for ten seconds.
pub(crate) struct Level {
    phase: Phase,
    users: u64,
    rate: f64,
    latency_ms: f64,
    failed_share: f64,
    cause: &'static str,
    opened_per_s: f64,
    connecting_ms: f64,
    in_flight: Option<f64>,
    silent: u64,
    late_ms: f64,
    unread: Option<f64>,
    readings: Vec<(&'static str, Signal, f64)>,
}

impl Level {
    /// This many users, requests per second and mean response time.
    pub(crate) fn new(phase: Phase, users: u64, rate: f64, latency_ms: f64) -> Self {
        Self {
            phase,
            users,
            rate,
            latency_ms,
            failed_share: 0.0,
            cause: "1000",
            opened_per_s: 0.0,
            connecting_ms: 0.0,
            in_flight: None,
            silent: 0,
            late_ms: 0.1,
            unread: None,
            readings: Vec::new(),
        }
    }

    /// A gauge's value, or a counter's growth per second; replaces what was said before.
    pub(crate) fn see(self, subject: &'static str, signal: Signal, value: f64) -> Self {
        let mut level = self.unsee(subject, signal);
        level.readings.push((subject, signal, value));
        level
    }

    /// Takes back what was seen.
    pub(crate) fn unsee(mut self, subject: &'static str, signal: Signal) -> Self {
        self.readings.retain(|(whose, known, _)| (*whose, known.name) != (subject, signal.name));
        self
    }

    pub(crate) fn failing(mut self, share: f64, cause: &'static str) -> Self {
        (self.failed_share, self.cause) = (share, cause);
        self
    }

    pub(crate) fn connecting(mut self, opened_per_s: f64, connecting_ms: f64) -> Self {
        (self.opened_per_s, self.connecting_ms) = (opened_per_s, connecting_ms);
        self
    }

    pub(crate) fn in_flight(mut self, in_flight: f64) -> Self {
        self.in_flight = Some(in_flight);
        self
    }

    /// So many of the users get no answer at all; the others get them all, one after the other.
    pub(crate) fn silent(mut self, users: u64) -> Self {
        self.silent = users;
        self.latency_ms = (self.users - users) as f64 / self.rate * 1e3;
        self
    }

    pub(crate) fn late(mut self, late_ms: f64) -> Self {
        self.late_ms = late_ms;
        self
    }

    pub(crate) fn unread(mut self, share: f64) -> Self {
        self.unread = Some(share);
        self
    }
}

/// A record with these levels, one after the other. Promises: p(90)<500, failures below 1 %.
pub(crate) fn record(levels: &[Level]) -> RunRecord {
    let subject = |id: &str, role, name: &str| Subject { id: id.into(), role, name: name.into(), pid: Some(1) };
    let mut record = RunRecord {
        plan: Some(plan()),
        subjects: vec![
            subject("gen", Role::Generator, "plimsoll"),
            subject("host", Role::Host, "this machine"),
            subject("svc", Role::Service, "uuid-api"),
            subject("db", Role::Database, "postgres 127.0.0.1:5432"),
        ],
        ..RunRecord::default()
    };
    let mut totals: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    let mut second = 0;
    for level in levels {
        let (from, to) = (moment(second), moment(second + SECONDS));
        let span = Interval::new(from, to);
        record.steps.push(StepSpan { phase: level.phase, users: level.users, whole: span, measured: span });
        for _ in 0..SECONDS {
            record.windows.push(window(level, second));
            read(&mut record, level, second, &mut totals);
            second += 1;
        }
    }
    record
}

fn moment(second: u64) -> Moment {
    Moment::after(Duration::from_secs(second))
}

fn read(record: &mut RunRecord, level: &Level, second: u64, totals: &mut BTreeMap<(&'static str, &'static str), f64>) {
    let readings = level.readings.iter().map(|(subject, signal, value)| {
        let total = totals.entry((subject, signal.name)).or_insert(0.0);
        *total = if signal.kind == Kind::Counter { *total + value } else { *value };
        let point = Point { at: moment(second), value: *total };
        Reading { subject: (*subject).into(), signal: signal.name.into(), kind: signal.kind, point }
    });
    record.push(Entry::Readings(readings.collect()));
}

fn window(level: &Level, second: u64) -> Window {
    let count = level.rate.round() as u64;
    let failed = (level.failed_share * count as f64).round() as u64;
    let mut requests = Requests { started: count, finished: count, failed, ..Requests::default() };
    let mut window = Window::default();
    let mut broken = 0;
    for index in 0..count {
        // Even between 93 and 107 % of the mean: p90 is 5.6 % above it.
        let value = level.latency_ms * (0.93 + 0.14 * (index as f64 + 0.5) / count as f64);
        requests.duration.record_ms(value);
        broken += u64::from(value > 500.0 || index < failed);
    }
    requests.connecting_ms_sum = level.connecting_ms * count as f64;
    requests.blocked_ms_sum = requests.connecting_ms_sum;
    window.interval = Interval::new(moment(second), moment(second + 1));
    window.users = u32::try_from(level.users).expect("few users");
    window.active_mean = level.users as f64;
    window.in_flight_mean = level.in_flight.unwrap_or(level.rate * level.latency_ms / 1e3 + level.silent as f64);
    window.iterations = count;
    for _ in 0..count {
        window.iteration_duration.record_ms((level.users - level.silent) as f64 / level.rate * 1e3);
    }
    (0..100).for_each(|_| window.late.record_ms(level.late_ms));
    if failed > 0 {
        window.errors.insert(level.cause.into(), failed);
    }
    window.promises = vec![PromiseCount { samples: count, broken }, PromiseCount { samples: count, broken: failed }];
    window.connections_opened = level.opened_per_s.round() as u64;
    window.connections_open = level.users;
    window.generator = GeneratorWindow { workers: 2, unread_share: level.unread };
    window.requests = requests;
    window
}

fn plan() -> Plan {
    Plan {
        target: "http://127.0.0.1:8080/uuid/17".into(),
        scenarios: vec![],
        metrics: vec![],
        thresholds: vec![],
        promises: ["http_req_duration: p(90)<500", "http_req_failed: rate<0.01"]
            .map(|text| text.parse().expect("a valid promise"))
            .to_vec(),
        summary_trend_stats: vec![],
        ..Plan::default()
    }
}
