//! Writes a script, loads it and drives its users with canned answers.
#![expect(clippy::unwrap_used, reason = "a test that cannot prepare itself has failed")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use engine::meter::{Meter, TagSet};
use engine::user::{
    Answer, Ask, Assignment, Ending, Event, Nursery, Request, Response, Ticket, Timings, User, UserFactory, Word, Work,
};
use http::HeaderMap;
use model::metric::builtin_metrics;
use model::plan::Plan;
use model::record::Level;
use model::summary::Total;
use script::{Isolation, LoadError, LoadSettings, Loaded, load};

/// Both ways to keep users apart: whatever a script does must be the same in both.
pub(crate) const ISOLATIONS: [Isolation; 2] = [Isolation::Shared, Isolation::Full];

/// Files in a folder of their own; the first is the script.
pub(crate) struct Files {
    _folder: tempfile::TempDir,
    pub(crate) script: PathBuf,
}

pub(crate) fn files(files: &[(&str, &str)]) -> Files {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    Files { script: folder.path().join(files[0].0), _folder: folder }
}

pub(crate) fn load_text(text: &str, settings: LoadSettings) -> Result<Loaded, LoadError> {
    load(&files(&[("script.js", text)]).script, settings)
}

/// The sentence that loading this script fails with.
pub(crate) fn load_error(text: &str) -> String {
    load_text(text, LoadSettings::default()).err().map(|error| error.to_string()).unwrap()
}

/// A script, its meter and the place where its users are made. Users must be dropped before it is.
pub(crate) struct Stage {
    pub(crate) nursery: Box<dyn Nursery>,
    pub(crate) factory: Arc<dyn UserFactory>,
    pub(crate) meter: Rc<Meter>,
    pub(crate) assignment: Rc<Assignment>,
}

pub(crate) fn stage(text: &str) -> Stage {
    stage_with(text, LoadSettings::default(), |_| {})
}

/// The first file is the script.
pub(crate) fn stage_of_files(of: &[(&str, &str)]) -> Stage {
    let loaded = load(&files(of).script, LoadSettings::default()).map_err(|error| error.to_string()).unwrap();
    stage_of(&loaded, |_| {})
}

pub(crate) fn stage_with(text: &str, settings: LoadSettings, change: impl FnOnce(&mut Plan)) -> Stage {
    stage_of(&load_text(text, settings).map_err(|error| error.to_string()).unwrap(), change)
}

fn stage_of(loaded: &Loaded, change: impl FnOnce(&mut Plan)) -> Stage {
    let mut plan = Plan {
        target: "script.js".to_owned(),
        metrics: builtin_metrics().into_iter().chain(loaded.facts.metrics.clone()).collect(),
        ..Plan::default()
    };
    change(&mut plan);
    let meter = Meter::new(Arc::new(plan));
    let factory = loaded.factory();
    let nursery = factory.nursery(0, meter.clone()).unwrap();
    Stage { nursery, factory, meter, assignment: assignment("default") }
}

pub(crate) fn assignment(exec: &str) -> Rc<Assignment> {
    let (scenario, exec, tags) = ("main".to_owned(), exec.to_owned(), TagSet::RUN);
    Rc::new(Assignment { scenario, number: 0, exec, env: Vec::new(), tags })
}

/// What a script asked for in an iteration, and how it ended.
#[derive(Debug)]
pub(crate) struct Course {
    pub(crate) requests: Vec<Request>,
    pub(crate) sleeps: Vec<Duration>,
    /// When it ended, in milliseconds of its own time, which passes in waits alone.
    pub(crate) ended_ms: u128,
    /// What it had begun and left behind.
    pub(crate) left: usize,
    pub(crate) ending: Ending,
}

/// What a user has begun: when it comes to an event, in the order in which it was begun.
#[derive(Default)]
struct Begun {
    now: Duration,
    count: u64,
    due: BTreeMap<(Duration, u64), (Ticket, Event)>,
}

impl Begun {
    fn begin(&mut self, ticket: Ticket, length: Duration, event: Event) {
        self.count += 1;
        self.due.insert((self.now + length, self.count), (ticket, event));
    }

    fn next(&mut self) -> Answer {
        let ((due, _), (ticket, event)) = self.due.pop_first().expect("a user waits only for what it has begun");
        self.now = self.now.max(due);
        Answer::Event(ticket, event)
    }
}

/// How long a request that nobody waits for takes: `http://h/30` 30 ms.
fn latency(request: &Request) -> Duration {
    let last = request.url.rsplit('/').next().unwrap();
    Duration::from_millis(last.parse().unwrap_or(0))
}

impl Stage {
    /// Runs one iteration of a fresh user.
    pub(crate) fn run(&mut self) -> Course {
        let mut user = self.nursery.user(1).unwrap();
        self.iterate(&mut *user)
    }

    pub(crate) fn iterate(&self, user: &mut dyn User) -> Course {
        iterate(user, &self.assignment, 0, &mut |request| answer_to(request, 200, "ok"))
    }

    /// Runs an iteration that must end well, and gives what the script logged.
    pub(crate) fn log_of_run(&mut self) -> Vec<String> {
        let course = self.run();
        let log = self.meter.take_log();
        assert_eq!(course.ending, Ending::Completed, "{log:?}");
        log.into_iter().map(|line| line.text).collect()
    }

    pub(crate) fn errors(&self) -> Vec<String> {
        let log = self.meter.take_log().into_iter();
        log.filter(|line| line.level == Level::Error).map(|line| line.text).collect()
    }

    /// Total of a metric, as the summary shows it.
    pub(crate) fn total(&self, metric: &str) -> Total {
        self.meter.summary().metrics.get(metric).unwrap_or_else(|| panic!("no sample of {metric}")).total.clone()
    }
}

/// Runs one iteration; `respond` answers its requests.
pub(crate) fn iterate(
    user: &mut dyn User,
    assignment: &Rc<Assignment>,
    iteration: u64,
    respond: &mut dyn FnMut(&Request) -> Response,
) -> Course {
    let (mut requests, mut sleeps, mut begun) = (Vec::new(), Vec::new(), Begun::default());
    let mut ask = user.resume(Answer::Begin(assignment.clone(), iteration));
    loop {
        let answer = match ask {
            Ask::Http(request) => {
                let response = respond(&request);
                requests.push(*request);
                Answer::Response(Box::new(response))
            }
            Ask::Batch(batch) => {
                let responses = batch.iter().map(&mut *respond).collect();
                requests.extend(batch);
                Answer::Responses(responses)
            }
            Ask::Sleep(duration) => {
                sleeps.push(duration);
                begun.now += duration;
                Answer::Slept
            }
            Ask::Start(ticket, Work::Timer(length)) => {
                begun.begin(ticket, length, Event::Rang);
                Answer::Noted
            }
            Ask::Start(ticket, Work::Http(request)) => {
                let response = Box::new(respond(&request));
                begun.begin(ticket, latency(&request), Event::Response(response));
                requests.push(*request);
                Answer::Noted
            }
            Ask::Tell(ticket, Word::Cancel) => {
                begun.due.retain(|_, (known, _)| *known != ticket);
                Answer::Noted
            }
            Ask::Grpc(_) | Ask::Start(..) | Ask::Tell(..) => panic!("there is no gRPC here"),
            Ask::Next => begun.next(),
            Ask::Yield => Answer::Slept,
            Ask::Done(ending) => {
                let (ended_ms, left) = (begun.now.as_millis(), begun.due.len());
                return Course { requests, sleeps, ended_ms, left, ending };
            }
        };
        ask = user.resume(answer);
    }
}

pub(crate) fn answer_to(request: &Request, status: u16, body: &str) -> Response {
    Response {
        status,
        url: request.url.clone(),
        proto: "HTTP/1.1",
        remote: Some("127.0.0.1:8080".parse().unwrap()),
        headers: HeaderMap::new().into(),
        body: request.keep_body.then(|| body.to_owned().into()),
        cookies: Vec::new(),
        timings: Timings { sending: 1.0, waiting: 2.0, receiving: 3.0, ..Timings::default() },
        tls_version: None,
        tls_cipher_suite: None,
        error: None,
    }
}
