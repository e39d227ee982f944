//! A service in simulated time: a closed queue that produces the windows and signals a real run would.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

use model::plan::Plan;
use model::record::{RunRecord, StepSpan};
use model::series::{Point, Role, Series, Subject};
use model::signal;
use model::unit::{Interval, Moment};
use model::verdict::{Capacity, Phase};
use model::window::{GeneratorWindow, PromiseCount, Window};

use crate::search::{Move, Search, Settings};
use crate::stats::random::Random;

#[derive(Clone, Copy)]
pub(super) struct System {
    pub(super) servers: u64,
    pub(super) service_s: f64,
    pub(super) cv: f64,
    pub(super) think_s: f64,
    /// Service time grows by this share per request under way.
    pub(super) slows: f64,
    /// Users from which on the generator has no time to spare.
    pub(super) generator_users: u64,
    /// Only so many users are ever let in; the others wait for ever.
    pub(super) places: u64,
    /// More users than this kill it.
    pub(super) dies_above: u64,
    pub(super) bytes_per_user: f64,
    pub(super) bytes_limit: f64,
}

impl System {
    pub(super) const EMPTY: Self = Self {
        servers: 1,
        service_s: 0.01,
        cv: 0.0,
        think_s: 0.0,
        slows: 0.0,
        generator_users: u64::MAX,
        places: u64::MAX,
        dies_above: u64::MAX,
        bytes_per_user: 0.0,
        bytes_limit: 0.0,
    };
}

pub(super) struct End {
    pub(super) record: RunRecord,
    pub(super) capacity: Capacity,
    pub(super) elapsed_s: f64,
}

/// Runs a whole search.
pub(super) fn search(system: System, limit_ms: f64, seed: u64, settings: Settings) -> End {
    let mut bench = Bench::new(system, limit_ms, seed);
    let mut search = Search::new(settings);
    for _ in 0..100 {
        match search.next(&bench.record, Duration::from_secs_f64(bench.now_s)) {
            Move::Step(order) => {
                bench.run(order.users, order.settle.as_secs_f64(), order.length.as_secs_f64(), order.phase);
            }
            Move::Extend(more) => {
                let last = bench.record.steps.pop().unwrap();
                bench.go_on(more.as_secs_f64());
                let to = bench.moment();
                let (whole, measured) = (Interval::new(last.whole.from, to), Interval::new(last.measured.from, to));
                bench.record.steps.push(StepSpan { whole, measured, ..last });
            }
            Move::Done => break,
        }
    }
    let capacity = search.capacity(&bench.record);
    End { capacity, elapsed_s: bench.now_s, record: bench.record }
}

/// The largest number of users that keeps the promise in ten simulated minutes, by bisection.
pub(super) fn true_capacity(system: System, limit_ms: f64) -> u64 {
    let answers = 60_000.0;
    let rate = system.servers as f64 / system.service_s;
    let keeps = |users: u64| {
        let mut bench = Bench::new(system, limit_ms, 99);
        bench.run(users, 10.0, (answers / rate).min(600.0), Phase::Confirm);
        let facts = crate::step::measure(&bench.record, &bench.record.steps[0]);
        facts.worst().unwrap().excess() <= 1.0
    };
    let (mut low, mut high) = (1, 1);
    while keeps(high) {
        (low, high) = (high, high * 2);
    }
    while high - low > 1 && high as f64 > low as f64 * 1.01 {
        let middle = u64::midpoint(low, high);
        if keeps(middle) { low = middle } else { high = middle }
    }
    low
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Asks,
    Answered(u64),
}

pub(super) struct Bench {
    system: System,
    limit_ms: f64,
    random: Random,
    pub(super) record: RunRecord,
    pub(super) now_s: f64,
    events: BinaryHeap<Reverse<(u64, Event)>>,
    waiting: VecDeque<u64>,
    busy: u64,
    /// Users that were not let in.
    outside: u64,
    users: u64,
    /// Users that leave as soon as their answer is there.
    leaving: u64,
}

const SECOND: u64 = 1_000_000_000;

impl Bench {
    pub(super) fn new(system: System, limit_ms: f64, seed: u64) -> Self {
        let promise = format!("http_req_duration: p(90)<{limit_ms}").parse().unwrap();
        let plan = Plan {
            target: "http://127.0.0.1:8080/".into(),
            scenarios: vec![],
            metrics: vec![],
            thresholds: vec![],
            promises: vec![promise, "http_req_failed: rate<0.01".parse().unwrap()],
            summary_trend_stats: vec![],
            ..Plan::default()
        };
        let subject = |id: &str, role| Subject { id: id.into(), role, name: id.into(), pid: Some(1) };
        let subjects = vec![subject("gen", Role::Generator), subject("svc", Role::Service)];
        let record = RunRecord { plan: Some(plan), subjects, ..RunRecord::default() };
        Self {
            system,
            limit_ms,
            random: Random::new(seed),
            record,
            now_s: 0.0,
            events: BinaryHeap::new(),
            waiting: VecDeque::new(),
            busy: 0,
            outside: 0,
            users: 0,
            leaving: 0,
        }
    }

    pub(super) fn moment(&self) -> Moment {
        Moment::after(Duration::from_secs_f64(self.now_s))
    }

    pub(super) fn run(&mut self, users: u64, settle_s: f64, length_s: f64, phase: Phase) {
        let from = self.moment();
        let now = from.0;
        if users >= self.users {
            let back = (users - self.users).min(self.leaving);
            self.leaving -= back;
            for _ in 0..users - self.users - back {
                self.events.push(Reverse((now, Event::Asks)));
            }
        } else {
            let outside = (self.users - users).min(self.outside);
            self.outside -= outside;
            self.leaving += self.users - users - outside;
        }
        self.users = users;
        self.go_on(settle_s);
        let measured_from = self.moment();
        self.go_on(length_s);
        let to = self.moment();
        let (whole, measured) = (Interval::new(from, to), Interval::new(measured_from, to));
        self.record.steps.push(StepSpan { phase, users, whole, measured });
    }

    pub(super) fn go_on(&mut self, seconds: f64) {
        let end = self.now_s + seconds;
        while self.now_s < end - 1e-6 {
            self.second((end - self.now_s).min(1.0));
        }
    }

    fn second(&mut self, length_s: f64) {
        let from = self.moment().0;
        let to = from + (length_s * SECOND as f64) as u64;
        let dead = self.users > self.system.dies_above;
        let mut window = Window { promises: vec![PromiseCount::default(); 2], ..Window::default() };
        window.interval = Interval::new(Moment(from), Moment(to));
        window.users = u32::try_from(self.users).unwrap();
        window.active_mean = self.users as f64;
        window.generator = GeneratorWindow { workers: 2, unread_share: None };
        let (mut area, mut at) = (0.0, from);
        if dead {
            window.requests.finished = 1000;
            window.requests.failed = 1000;
            window.promises.iter_mut().for_each(|count| *count = PromiseCount { samples: 1000, broken: 1000 });
            window.errors.insert("1212: dial: connection refused".into(), 1000);
        }
        while !dead && self.events.peek().is_some_and(|Reverse((time, _))| *time < to) {
            let Reverse((time, event)) = self.events.pop().unwrap();
            let time = time.max(from);
            area += (self.in_flight() + self.outside) as f64 * (time - at) as f64;
            at = time;
            match event {
                Event::Asks if self.leaving > 0 => self.leaving -= 1,
                Event::Asks if self.in_flight() >= self.system.places => self.outside += 1,
                Event::Asks => {
                    window.requests.started += 1;
                    self.waiting.push_back(time);
                }
                Event::Answered(asked) => self.answer(&mut window, asked, time),
            }
            self.serve(time);
        }
        area += (self.in_flight() + self.outside) as f64 * (to - at) as f64;
        window.in_flight_mean = area / (to - from).max(1) as f64;
        self.now_s += length_s;
        self.record.windows.push(window);
        self.watch();
    }

    fn in_flight(&self) -> u64 {
        self.waiting.len() as u64 + self.busy
    }

    fn answer(&mut self, window: &mut Window, asked: u64, time: u64) {
        self.busy -= 1;
        let duration_ms = (time - asked) as f64 / 1e6;
        window.requests.finished += 1;
        window.requests.duration.record_ms(duration_ms);
        window.iterations += 1;
        let think_s = if self.system.think_s > 0.0 { self.random.exponential(self.system.think_s) } else { 0.0 };
        window.iteration_duration.record_ms(duration_ms + think_s * 1e3);
        for (count, broken) in window.promises.iter_mut().zip([duration_ms > self.limit_ms, false]) {
            count.samples += 1;
            count.broken += u64::from(broken);
        }
        self.events.push(Reverse((time + (think_s * SECOND as f64) as u64, Event::Asks)));
    }

    fn serve(&mut self, time: u64) {
        while self.busy < self.system.servers
            && let Some(asked) = self.waiting.pop_front()
        {
            self.busy += 1;
            let slower = 1.0 + self.system.slows * (self.waiting.len() as f64 + self.busy as f64);
            let service_s = self.random.spread(self.system.service_s * slower, self.system.cv);
            self.events.push(Reverse((time + (service_s * SECOND as f64) as u64, Event::Answered(asked))));
        }
    }

    fn watch(&mut self) {
        let at = Moment(self.moment().0 - 1);
        let full = self.users >= self.system.generator_users;
        let mut read = |subject: &str, signal: signal::Signal, value: f64, adds: bool| {
            let series = self.record.series.iter_mut().find(|s| s.subject == subject && s.signal == signal.name);
            let series = match series {
                Some(series) => series,
                None => {
                    let (subject, signal, kind) = (subject.to_owned(), signal.name.to_owned(), signal.kind);
                    self.record.series.push(Series { subject, signal, kind, points: vec![] });
                    self.record.series.last_mut().unwrap()
                }
            };
            let before = series.points.last().filter(|_| adds).map_or(0.0, |point| point.value);
            series.points.push(Point { at, value: before + value });
        };
        read("gen", signal::RUN, if full { 1.9 } else { 0.2 }, true);
        read("gen", signal::RUN_WAIT, 0.0, true);
        read("gen", signal::CORES_ALLOWED, 2.0, false);
        if self.system.bytes_limit > 0.0 {
            read("svc", signal::CGROUP_MEMORY_LIMIT, self.system.bytes_limit, false);
            read("svc", signal::MEMORY_ANON, 25e6 + self.system.bytes_per_user * self.users as f64, false);
        }
    }
}
