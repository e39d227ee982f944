//! The virtual user as the engine sees it: something that runs until it needs the engine, says what it asks for, and
//! goes on with the answer. It never opens a socket, waits or reads a clock, so any language can implement it: the
//! JavaScript user lives in `script`, a plain Rust one drives URL mode and the engine's own tests.

use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method};

use crate::meter::{Meter, TagSet};

pub use crate::net::{SharedJar, cookie_date};

/// Makes users. Shared by all workers.
pub trait UserFactory: Send + Sync + 'static {
    /// Called once on each worker's own thread; what it returns never leaves that thread.
    ///
    /// # Errors
    /// If users cannot be made at all, for example because the init code of a script throws.
    fn nursery(&self, worker: usize, meter: Rc<Meter>) -> Result<Box<dyn Nursery>, UserError>;
}

/// Makes the users of one worker.
pub trait Nursery {
    /// Makes the user with this number (1, 2, …; unique in the test) and runs its init code.
    ///
    /// # Errors
    /// If its init code fails.
    fn user(&mut self, vu: u32) -> Result<Box<dyn User>, UserError>;

    /// The temporary user that runs `setup()` as its one iteration; what `setup()` returned is given to every user
    /// made or begun afterwards, on any worker.
    ///
    /// # Errors
    /// If its init code fails.
    fn setup(&mut self) -> Result<Box<dyn User>, UserError>;

    /// The temporary user that runs `teardown()`.
    ///
    /// # Errors
    /// If its init code fails.
    fn teardown(&mut self) -> Result<Box<dyn User>, UserError>;
}

/// Why a user could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct UserError {
    /// What happened, with file and line where there is one.
    pub message: String,
}

/// A virtual user: a state machine that the engine drives.
pub trait User {
    /// Goes on with `answer` until the user needs the engine again. The first answer of every iteration is
    /// [`Answer::Begin`]; behind [`Ask::Done`] the next one is again. Samples, checks and log lines go to the meter
    /// the user was made with.
    fn resume(&mut self, answer: Answer) -> Ask;
}

/// What a user asks for.
#[derive(Debug)]
pub enum Ask {
    /// Send this request and answer with [`Answer::Response`].
    Http(Box<Request>),
    /// Send these at once, within the limits of `batch` and `batchPerHost`, and answer with [`Answer::Responses`].
    Batch(Vec<Request>),
    /// Wait, then answer with [`Answer::Slept`].
    Sleep(Duration),
    /// Let others run, then answer with [`Answer::Slept`]: a script that computes for long.
    Yield,
    /// The iteration is over.
    Done(Ending),
}

/// How an iteration ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// To its end.
    Completed,
    /// By an exception, which the user has logged. Counts as an iteration.
    Threw(String),
    /// Because the engine answered [`Answer::Cancel`]. Does not count as an iteration.
    Interrupted,
    /// The script wants the whole test to end (`test.abort`).
    Aborted(String),
    /// The script uses something that is not supported: the whole test ends, since it would fail in every iteration.
    Unsupported(String),
}

/// What the engine answers.
#[derive(Debug)]
pub enum Answer {
    /// Begin an iteration.
    Begin(Rc<Assignment>, u64),
    /// The response to [`Ask::Http`].
    Response(Box<Response>),
    /// The responses to [`Ask::Batch`], in its order.
    Responses(Vec<Response>),
    /// The wait is over.
    Slept,
    /// Stop now: the user runs no more code of the script and answers [`Ask::Done`] with [`Ending::Interrupted`].
    Cancel,
}

/// What a user does in its iterations while it belongs to a scenario; the number beside it in [`Answer::Begin`] is
/// the iteration within the test (`exec.scenario.iterationInTest`, unique over the scenario).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Name of the scenario; empty in setup and teardown.
    pub scenario: String,
    /// The exported function to call.
    pub exec: String,
    /// Overlays `__ENV`.
    pub env: Vec<(String, String)>,
    /// Tags of all samples: those of the run and the scenario.
    pub tags: TagSet,
}

/// An HTTP request.
#[derive(Clone, Debug)]
pub struct Request {
    /// Method.
    pub method: Method,
    /// Absolute URL.
    pub url: String,
    /// Value of the `name` tag, if the script gives one; otherwise it is the grouped URL.
    pub name: Option<Rc<str>>,
    /// Headers of the script. User-Agent, Host and Content-Length are added if missing.
    pub headers: HeaderMap,
    /// Cookies of this request alone: name, value, whether it replaces one of the jar.
    pub cookies: Vec<(String, String, bool)>,
    /// Where cookies come from and go to; `None` is a jar that the engine keeps for the user.
    pub jar: Option<SharedJar>,
    /// Answers a challenge (401) of the service by RFC 7616, with user and password of the URL.
    pub digest: bool,
    /// Body.
    pub body: Bytes,
    /// How long it may take with all redirects; `None` is the plan's setting.
    pub timeout: Option<Duration>,
    /// Redirects to follow; `None` is the plan's setting.
    pub redirects: Option<u32>,
    /// Whether the body of the answer is wanted; if not it is read and dropped.
    pub keep_body: bool,
    /// Which statuses are expected; `None` makes no `http_req_failed` sample.
    pub expected: Option<ExpectedStatuses>,
    /// Tags of its samples; the engine adds method, status, url, name, proto and the like.
    pub tags: TagSet,
}

impl Request {
    /// A GET of this URL with everything else at its default.
    pub fn get(url: impl Into<String>, tags: TagSet) -> Self {
        Self {
            method: Method::GET,
            url: url.into(),
            name: None,
            headers: HeaderMap::new(),
            cookies: Vec::new(),
            jar: None,
            digest: false,
            body: Bytes::new(),
            timeout: None,
            redirects: None,
            keep_body: false,
            expected: Some(ExpectedStatuses::default()),
            tags,
        }
    }
}

/// Statuses that do not count as failed: closed ranges. k6's default is 200 to 399.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedStatuses(pub Rc<[(u16, u16)]>);

impl Default for ExpectedStatuses {
    fn default() -> Self {
        Self(Rc::new([(200, 399)]))
    }
}

impl ExpectedStatuses {
    /// Whether `status` is expected.
    pub fn holds(&self, status: u16) -> bool {
        self.0.iter().any(|&(low, high)| (low..=high).contains(&status))
    }
}

/// An HTTP response, or what is known of a request that got none.
#[derive(Clone, Debug)]
pub struct Response {
    /// Status; 0 if there was no answer.
    pub status: u16,
    /// URL of the last hop.
    pub url: String,
    /// `HTTP/1.1` and the like; empty if there was no answer.
    pub proto: &'static str,
    /// Peer of the connection.
    pub remote: Option<SocketAddr>,
    /// Headers.
    pub headers: HeaderMap,
    /// Body, unpacked; `None` if it was not wanted or there is none.
    pub body: Option<Bytes>,
    /// Cookies that the first hop carried: name and value.
    pub cookies: Vec<(String, String)>,
    /// How long each phase of the last hop took.
    pub timings: Timings,
    /// Negotiated TLS version in k6's words (`tls1.3`), if any.
    pub tls_version: Option<&'static str>,
    /// Why it failed, in k6's words.
    pub error: Option<Failure>,
}

/// Phases of a request in k6's words, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timings {
    /// Waiting for a connection, DNS, connect and TLS included.
    pub blocked: f64,
    /// TCP connect; 0 on a reused connection.
    pub connecting: f64,
    /// TLS handshake; 0 on a reused connection.
    pub tls_handshaking: f64,
    /// Writing the request.
    pub sending: f64,
    /// From the last byte written to the first byte read.
    pub waiting: f64,
    /// From the first byte read to the last.
    pub receiving: f64,
}

impl Timings {
    /// `http_req_duration`: sending, waiting and receiving.
    pub fn duration(&self) -> f64 {
        self.sending + self.waiting + self.receiving
    }
}

/// Why a request failed: k6's error code and text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// k6's error code: 1050 timeout, 1212 refused, 1220 reset, 1400 to 1599 for statuses, …
    pub code: u32,
    /// k6's text where there is one: `request timeout`, `dial: connection refused`.
    pub text: String,
}
