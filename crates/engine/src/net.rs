//! HTTP for virtual users: each has its own connections and cookies, as a browser of its own would. A request that
//! fails is data, not an error: it comes back as a response with the reason in it.

mod batch;
mod connection;
mod cookies;
mod digest;
mod dns;
mod failure;
mod gate;
mod names;
mod outgoing;
mod redirects;
mod samples;
mod target;
#[cfg(test)]
mod tests;
mod tls;
mod wire;

use std::cell::{OnceCell, RefCell};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;

use http::header::{AUTHORIZATION, CONNECTION, CONTENT_ENCODING, HeaderValue, SET_COOKIE};
use http::{HeaderMap, StatusCode, Version};
use model::plan::HttpSettings;
use model::record::Level;
use model::unit::Moment;

use crate::alarm::{Alarm, Elapsed, Leash};
use crate::coding;
use crate::meter::Endpoint;
use crate::tally::Tally;
use crate::user::{Failure, Request, Response, Timings};
use connection::{Answered, Connection, Progress};
use outgoing::{Defaults, Outgoing};
use redirects::{redirect, redirection};
use samples::{Hop, Samples};
use target::{Target, Targets};
use wire::Traffic;

pub use cookies::{SharedJar, cookie_date};
pub use gate::Permit;
pub(crate) use gate::{Gate, Passage};

/// What all users of one worker share.
pub(crate) struct Net {
    tally: Rc<Tally>,
    defaults: Defaults,
    targets: Targets,
    samples: Samples,
    resolver: dns::Resolver,
    gate: Gate,
    tls: OnceCell<Arc<rustls::ClientConfig>>,
}

impl Net {
    pub(crate) fn new(tally: Rc<Tally>, gate: Gate) -> Rc<Self> {
        let user_agent = tally.meter.plan().http.user_agent.as_str();
        let user_agent = HeaderValue::from_str(user_agent).ok().filter(|value| !value.is_empty());
        let defaults = Defaults { user_agent, close: tally.meter.plan().http.no_connection_reuse };
        Rc::new(Self {
            defaults,
            tally,
            targets: Targets::default(),
            samples: Samples::default(),
            resolver: dns::Resolver::default(),
            gate,
            tls: OnceCell::new(),
        })
    }

    fn settings(&self) -> &HttpSettings {
        &self.tally.meter.plan().http
    }

    fn skip_verify(&self) -> bool {
        self.settings().insecure_skip_tls_verify
    }
}

/// The connections and cookies of one user.
pub(crate) struct Client {
    net: Rc<Net>,
    idle: RefCell<Vec<Connection>>,
    jar: SharedJar,
    traffic: Rc<Traffic>,
}

/// What came of a hop.
struct Incoming {
    answered: Result<Answered, Failure>,
    timings: Timings,
    remote: Option<std::net::SocketAddr>,
    tls_version: Option<&'static str>,
}

impl Client {
    pub(crate) fn new(net: Rc<Net>) -> Self {
        let (idle, jar) = (RefCell::new(Vec::new()), SharedJar::default());
        Self { net, idle, jar, traffic: Rc::default() }
    }

    /// An iteration begins.
    pub(crate) fn begin_iteration(&self) {
        if !self.net.settings().no_cookies_reset {
            self.jar.clear();
        }
    }

    /// An iteration ended; returns the bytes sent and received in it.
    pub(crate) fn end_iteration(&self) -> (u64, u64) {
        if self.net.settings().no_vu_connection_reuse {
            self.close();
        }
        self.traffic.take()
    }

    /// Gives back the buffers of idle connections.
    pub(crate) fn park(&self) {
        self.idle.borrow_mut().retain_mut(Connection::park);
    }

    /// Closes all idle connections.
    pub(crate) fn close(&self) {
        self.idle.borrow_mut().clear();
    }

    /// Sends `request` and follows its redirects; `None` if the scenario cut it off.
    pub(crate) async fn request(&self, request: Box<Request>, alarm: &mut Alarm, leash: &Leash) -> Option<Response> {
        let settings = self.net.settings();
        let meter = &self.net.tally.meter;
        let named = request.name.as_deref().map(|name| meter.endpoint(name));
        let mut request = request;
        let mut target = match self.net.targets.at(&request.url, meter) {
            Ok(target) => target,
            Err(failure) => return Some(never_sent(*request, failure)),
        };
        let mut began = self.net.tally.clock.now();
        leash.asks(began);
        let deadline = began + request.timeout.unwrap_or(settings.timeout);
        let mut redirects_left = request.redirects.unwrap_or(settings.max_redirects);
        let mut moved = false;
        let jar = request.jar.clone().unwrap_or_else(|| self.jar.clone());
        let mut carried = None;
        loop {
            let outgoing = Outgoing {
                method: request.method.clone(),
                target: target.clone(),
                headers: &request.headers,
                body: request.body.clone(),
                cookies: &request.cookies,
                keep_body: request.keep_body,
            };
            if carried.is_none() {
                carried =
                    Some(if jar.is_empty() && request.cookies.is_empty() { Vec::new() } else { outgoing.pairs(&jar) });
            }
            let endpoint = named.unwrap_or(target.endpoint);
            let mut incoming = self.hop(outgoing, &jar, endpoint, [began, deadline], alarm, leash).await?;
            let challenge = request.digest.then(|| digest::challenge(&incoming.answered)).flatten();
            let failure = self.sample(&request, endpoint, &mut incoming, challenge.is_some());
            if let Ok(answered) = &incoming.answered {
                store_cookies(&jar, &answered.head.headers, &target);
                if let Some(challenge) = &challenge {
                    // Answered once: a second challenge means that user and password are wrong.
                    request.digest = false;
                    let answer = challenge.answer(&request.method, &target);
                    request.headers.insert(AUTHORIZATION, answer);
                    began = self.net.tally.clock.now();
                    continue;
                }
                if let Some(next) = redirection(answered, &target) {
                    match next.and_then(|url| self.net.targets.at(url.as_str(), meter)) {
                        Err(failure) => incoming.answered = Err(failure),
                        Ok(next) if redirects_left > 0 => {
                            redirects_left -= 1;
                            redirect(&mut request, answered.head.status, &target, &next);
                            target = next;
                            moved = true;
                            began = self.net.tally.clock.now();
                            continue;
                        }
                        Ok(_) if request.redirects.is_none() && settings.max_redirects > 0 => {
                            let text = format!("stopped after {} redirects", settings.max_redirects);
                            meter.log(Level::Warn, text);
                        }
                        Ok(_) => {}
                    }
                }
            }
            return Some(response(*request, &target, moved, incoming, (failure, carried.unwrap_or_default())));
        }
    }

    /// One request and its answer, without its redirects.
    async fn hop(
        &self,
        outgoing: Outgoing<'_>,
        jar: &SharedJar,
        endpoint: Endpoint,
        [began, deadline]: [Moment; 2],
        alarm: &mut Alarm,
        leash: &Leash,
    ) -> Option<Incoming> {
        let tally = &self.net.tally;
        let progress = Progress::default();
        let in_flight = tally.request_begins(began);
        tally.meter.request_began(endpoint);
        // Pinned here, since moving a future of this size shows in the cost of a request.
        let sending = pin!(self.send(&outgoing, jar, &progress));
        let answered = alarm.wait(sending, deadline, leash).await;
        let answered = match answered {
            Ok(answered) => answered,
            Err(Elapsed::Deadline) => Err(failure::timeout()),
            Err(Elapsed::Cut) => return None,
        };
        let ended = tally.clock.now();
        in_flight.end(ended);
        let answered = answered.and_then(|answered| match answered.head.status {
            StatusCode::SWITCHING_PROTOCOLS => Err(failure::other("unsupported response status: 101")),
            _ => unpacked(answered),
        });
        let timings = progress.timings(began, ended);
        let (remote, tls_version) = (progress.remote.get(), progress.tls_version.get());
        Some(Incoming { answered, timings, remote, tls_version })
    }

    async fn send(&self, outgoing: &Outgoing<'_>, jar: &SharedJar, progress: &Progress) -> Result<Answered, Failure> {
        let reused = self.idle_connection(&outgoing.target).await;
        // As Go's client does: a kept connection may have been closed by the service just now, which says nothing
        // about the request, so that one which changes nothing is tried once more on a new connection.
        let encode = || outgoing.encode(&self.net.defaults, jar);
        let again = reused.is_some() && outgoing.repeatable();
        let mut connection = match reused {
            Some(connection) => connection,
            None => self.dial(outgoing, progress).await?,
        };
        let mut answered = connection.exchange(encode(), outgoing.keep_body, progress).await;
        if again && answered.as_ref().is_err_and(|broken| !broken.answer_begun) {
            connection = self.dial(outgoing, progress).await?;
            answered = connection.exchange(encode(), outgoing.keep_body, progress).await;
        }
        let answered = answered.map_err(|broken| broken.failure)?;
        // A request without a body is written by now; one with a body may be answered before it is. Nothing more is
        // read here, since the head of the answer still lies in the buffer that would be read into.
        let keeps = !self.net.defaults.close && stays_open(&answered.head);
        if keeps && (outgoing.body.is_empty() || connection.alive().await) {
            self.idle.borrow_mut().push(connection);
        }
        Ok(answered)
    }

    /// On the heap, since it is rare and its state is large.
    fn dial<'a>(
        &'a self,
        outgoing: &'a Outgoing<'_>,
        progress: &'a Progress,
    ) -> Pin<Box<dyn Future<Output = Result<Connection, Failure>> + 'a>> {
        Box::pin(Connection::dial(&self.net, &outgoing.target, &self.traffic, progress))
    }

    async fn idle_connection(&self, target: &Rc<Target>) -> Option<Connection> {
        loop {
            let mut connection = {
                let mut idle = self.idle.borrow_mut();
                let position = idle.iter().rposition(|connection| connection.leads_to(target))?;
                idle.swap_remove(position)
            };
            if connection.alive().await {
                return Some(connection);
            }
        }
    }

    /// Adds the samples of a hop; returns why it failed.
    fn sample(
        &self,
        request: &Request,
        endpoint: Endpoint,
        incoming: &mut Incoming,
        is_challenge: bool,
    ) -> Option<Failure> {
        let (status, proto, failure) = match &incoming.answered {
            Ok(answered) => {
                let status = answered.head.status.as_u16();
                (status, protocol(answered.head.version), failure::status(status))
            }
            Err(failure) => (0, "", Some(failure.clone())),
        };
        self.net.samples.add(
            &self.net.tally.meter,
            &Hop {
                base: request.tags,
                endpoint,
                method: &request.method,
                status,
                proto,
                tls_version: incoming.tls_version,
                failure: failure.as_ref(),
                expected: request.expected.as_ref().map(|expected| is_challenge || expected.holds(status)),
                timings: incoming.timings,
            },
        );
        failure
    }
}

fn response(
    request: Request,
    target: &Target,
    moved: bool,
    incoming: Incoming,
    (failure, cookies): (Option<Failure>, Vec<(String, String)>),
) -> Response {
    let url = if moved { target.url.to_string() } else { request.url };
    let Incoming { answered, timings, remote, tls_version } = incoming;
    let (status, proto, headers, body, error) = match answered {
        Ok(Answered { head, body }) => (head.status.as_u16(), protocol(head.version), head.headers, body, failure),
        Err(failure) => (0, "", HeaderMap::new(), None, Some(failure)),
    };
    Response { status, url, proto, remote, headers, body, cookies, timings, tls_version, error }
}

fn store_cookies(jar: &SharedJar, headers: &HeaderMap, target: &Target) {
    for header in headers.get_all(SET_COOKIE) {
        if let Ok(header) = header.to_str() {
            jar.store(header, &target.url);
        }
    }
}

/// What cannot be sent leaves no sample, as in k6.
fn never_sent(request: Request, failure: Failure) -> Response {
    Response {
        status: 0,
        url: request.url,
        proto: "",
        remote: None,
        headers: HeaderMap::new(),
        body: None,
        cookies: Vec::new(),
        timings: Timings::default(),
        tls_version: None,
        error: Some(failure),
    }
}

/// An answer with its body as it was before the service packed it; its headers stay. The time that this takes is ours,
/// so it lies behind the end of the request.
fn unpacked(answered: Answered) -> Result<Answered, Failure> {
    let Answered { head, body } = answered;
    let codings = head.headers.get(CONTENT_ENCODING).and_then(|codings| codings.to_str().ok());
    let body = match (body, codings) {
        (Some(body), Some(codings)) => Some(coding::unpack(body, codings).map_err(|error| failure::unpacking(&error))?),
        (body, _) => body,
    };
    Ok(Answered { head, body })
}

/// Whether the service keeps the connection open behind this answer.
fn stays_open(head: &http::response::Parts) -> bool {
    let says = |wanted: &str| {
        let values = head.headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
        values.flat_map(|value| value.split(',')).any(|word| word.trim().eq_ignore_ascii_case(wanted))
    };
    if head.version == Version::HTTP_10 { says("keep-alive") } else { !says("close") }
}

fn protocol(version: Version) -> &'static str {
    if version == Version::HTTP_10 { "HTTP/1.0" } else { "HTTP/1.1" }
}
