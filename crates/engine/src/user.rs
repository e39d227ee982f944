//! The virtual user as the engine sees it: something that runs until it needs the engine, says what it asks for, and
//! goes on with the answer. It never opens a socket, waits or reads a clock, so any language can implement it: the
//! JavaScript user lives in `script`, a plain Rust one drives URL mode and the engine's own tests.

mod socket;
mod work;

use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method};

pub use crate::headers::Headers;
use crate::meter::{Meter, TagSet};

pub use crate::net::{SharedJar, cookie_date};
pub use socket::{SocketAnswer, SocketEvent, SocketManner, SocketRequest, SocketWord};
pub use work::{Event, Ticket, Word, Work};

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

    /// Tags of what the engine measures of its iterations as such, if the user has changed those of its assignment.
    fn tags(&self) -> Option<TagSet> {
        None
    }
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
    /// Do this over gRPC and answer with [`Answer::Grpc`].
    Grpc(Box<GrpcAsk>),
    /// Let others run, then answer with [`Answer::Slept`]: a script that computes for long.
    Yield,
    /// Begin this and answer at once with [`Answer::Noted`]; what happens to it is told to [`Ask::Next`].
    Start(Ticket, Work),
    /// Say this to something that goes on, and answer at once with [`Answer::Noted`].
    Tell(Ticket, Word),
    /// Wait until something happens to what was begun, and answer with [`Answer::Event`]: in the order of events.
    Next,
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
    /// What came of [`Ask::Grpc`].
    Grpc(Box<GrpcAnswer>),
    /// The wait is over.
    Slept,
    /// It was begun, or told.
    Noted,
    /// What happened, and to what.
    Event(Ticket, Event),
    /// Stop now: the user runs no more code of the script and answers [`Ask::Done`] with [`Ending::Interrupted`].
    Cancel,
}

/// What a user does in its iterations while it belongs to a scenario; the number beside it in [`Answer::Begin`] is
/// the iteration within the test (`exec.scenario.iterationInTest`, unique over the scenario).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Name of the scenario; empty in setup and teardown.
    pub scenario: String,
    /// Place of the scenario in the plan; beyond the last one in setup and teardown.
    pub number: usize,
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
    pub headers: Headers,
    /// Body, unpacked; `None` if it was not wanted or there is none.
    pub body: Option<Bytes>,
    /// Cookies that the first hop carried: name and value.
    pub cookies: Vec<(String, String)>,
    /// How long each phase of the last hop took.
    pub timings: Timings,
    /// Negotiated TLS version in k6's words (`tls1.3`), if any.
    pub tls_version: Option<&'static str>,
    /// Negotiated cipher suite under its registered name (`TLS_AES_128_GCM_SHA256`), if any.
    pub tls_cipher_suite: Option<&'static str>,
    /// Why it failed, in k6's words.
    pub error: Option<Failure>,
}

/// Something to do over gRPC.
#[derive(Clone, Debug)]
pub enum GrpcAsk {
    /// Open a channel; answered with [`GrpcAnswer::Opened`] or [`GrpcAnswer::NotOpened`].
    Connect(GrpcConnect),
    /// Make a call on a channel; answered with [`GrpcAnswer::Reply`].
    Call(GrpcCall),
    /// Close a channel; answered with [`GrpcAnswer::Closed`].
    Close(ChannelId),
}

/// What came of it.
#[derive(Clone, Debug)]
pub enum GrpcAnswer {
    /// The channel is there.
    Opened(ChannelId),
    /// It is not, and why.
    NotOpened(Failure),
    /// What came of a call.
    Reply(GrpcReply),
    /// The channel is closed.
    Closed,
}

/// A gRPC channel of one user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChannelId(pub u64);

/// Where a channel leads.
#[derive(Clone, Debug)]
pub struct GrpcConnect {
    /// `host:port`.
    pub address: String,
    /// TLS, and with what; `None` is plain text.
    pub tls: Option<GrpcTls>,
    /// Value of `:authority` if it is not the address.
    pub authority: Option<String>,
    /// How long connecting may take.
    pub timeout: Duration,
    /// Most bytes of a message that comes.
    pub receive_bytes_max: usize,
    /// Most bytes of a message that goes.
    pub send_bytes_max: usize,
}

/// What a channel's TLS has beside the settings of the run, as PEM.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct GrpcTls {
    /// Certificate and key of the client.
    pub identity: Option<(String, String)>,
    /// Authorities instead of the machine's.
    pub authorities: Vec<String>,
}

/// Names and values; a name may come more than once. Values of names that end in `-bin` are bytes.
pub type Metadata = Vec<(String, Bytes)>;

/// A call over gRPC.
#[derive(Clone, Debug)]
pub struct GrpcCall {
    /// On which channel.
    pub channel: ChannelId,
    /// `/package.Service/Method`.
    pub path: String,
    /// Metadata to send.
    pub metadata: Metadata,
    /// Messages to send, one after the other.
    pub messages: Vec<Bytes>,
    /// How long it may take.
    pub timeout: Duration,
    /// Tags of its `grpc_req_duration`; `None` is a call that nobody measures.
    pub tags: Option<TagSet>,
}

/// A stream over gRPC.
#[derive(Clone, Debug)]
pub struct GrpcStream {
    /// On which channel.
    pub channel: ChannelId,
    /// `/package.Service/Method`.
    pub path: String,
    /// Metadata to send.
    pub metadata: Metadata,
    /// How long it may take; `None` is for ever.
    pub timeout: Option<Duration>,
    /// Tags of its samples.
    pub tags: TagSet,
}

/// What came of a call.
#[derive(Clone, Debug)]
pub struct GrpcReply {
    /// How it ended.
    pub status: GrpcStatus,
    /// Messages that came.
    pub messages: Vec<Bytes>,
    /// Headers that came.
    pub headers: Metadata,
    /// Trailers that came.
    pub trailers: Metadata,
}

impl GrpcReply {
    /// A call that did not come to an answer.
    pub fn failed(status: GrpcStatus) -> Self {
        Self { status, messages: Vec::new(), headers: Metadata::new(), trailers: Metadata::new() }
    }
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrpcStatus {
    /// gRPC's code; 0 is success.
    pub code: u32,
    /// What the server said, or why there is no answer.
    pub text: String,
    /// A `google.rpc.Status` message with details, if the server sent one.
    pub details: Option<Bytes>,
}

impl GrpcStatus {
    /// A status without details.
    pub fn new(code: u32, text: impl Into<String>) -> Self {
        Self { code, text: text.into(), details: None }
    }
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
