//! HTTP for virtual users: each has its own connections and cookies, as a browser of its own would. A request that
//! fails is data, not an error: it comes back as a response with the reason in it.

mod batch;
mod connection;
mod cookies;
mod debug;
mod digest;
mod dns;
mod exchange;
mod failure;
mod gate;
mod grpc;
pub(crate) mod http1;
mod http2;
mod names;
mod outgoing;
mod pace;
mod proxy;
mod redirects;
mod samples;
mod socket;
mod source;
mod target;
#[cfg(test)]
mod tests;
pub(crate) mod tls;
mod wire;

use std::cell::{OnceCell, RefCell};
use std::net::IpAddr;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;

use http::StatusCode;
use http::header::{AUTHORIZATION, CONTENT_ENCODING, HeaderValue, SET_COOKIE};
use model::network::NetworkSettings;
use model::plan::{HttpSettings, HttpVersion};
use model::record::Level;
use model::unit::Moment;

use crate::alarm::{Alarm, Elapsed, Leash};
use crate::coding;
use crate::headers::Headers;
use crate::meter::{Endpoint, Meter};
use crate::tally::Tally;
use crate::user::{Failure, Request, Response, Timings};
use connection::{Answered, Connection, Head, Progress};
use exchange::Dialing;
use http1::Scratch;
use http1::answer::Held;
use http2::Http2;
use outgoing::{Defaults, Outgoing};
use proxy::Proxies;
use redirects::{redirect, redirection};
use samples::{Hop, Samples};
use target::{Origin, Target, Targets};
use wire::Traffic;

pub use cookies::{SharedJar, cookie_date};
pub use gate::Permit;
pub(crate) use gate::{Gate, Passage};
pub(crate) use pace::Pace;

/// What all users of one worker share.
pub(crate) struct Net {
    tally: Rc<Tally>,
    defaults: Defaults,
    targets: Targets,
    samples: Samples,
    resolver: dns::Resolver,
    gate: Gate,
    tls: OnceCell<tls::Tls>,
    pace: Option<Arc<Pace>>,
    proxies: Proxies,
    scratch: Scratch,
    held: Held,
    /// Origins that were offered HTTP/2 and chose HTTP/1.1.
    http1: RefCell<Vec<Origin>>,
}

/// Whether the environment wants a request for `url` to go through a proxy.
pub fn goes_by_proxy(url: &str) -> bool {
    let parsed = Target::parse(url, &Meter::new(Arc::default()));
    parsed.is_ok_and(|target| environment().of(&target.origin).is_some())
}

fn environment() -> Proxies {
    Proxies::read(|name| std::env::var(name).ok())
}

impl Net {
    pub(crate) fn new(tally: Rc<Tally>, gate: Gate, pace: Option<Arc<Pace>>) -> Rc<Self> {
        Self::with(tally, gate, pace, environment())
    }

    fn with(tally: Rc<Tally>, gate: Gate, pace: Option<Arc<Pace>>, proxies: Proxies) -> Rc<Self> {
        let user_agent = tally.meter.plan().http.user_agent.as_str();
        let user_agent = HeaderValue::from_str(user_agent).ok().filter(|value| !value.is_empty());
        let defaults = Defaults { user_agent, close: tally.meter.plan().http.no_connection_reuse };
        Rc::new(Self {
            defaults,
            targets: Targets::default(),
            samples: Samples::default(),
            resolver: dns::Resolver::default(),
            gate,
            tls: OnceCell::new(),
            pace,
            proxies,
            scratch: Scratch::default(),
            held: Held::new(tally.meter.plan().http.body_bytes_max),
            http1: RefCell::default(),
            tally,
        })
    }

    fn settings(&self) -> &HttpSettings {
        &self.tally.meter.plan().http
    }

    fn network(&self) -> &NetworkSettings {
        &self.tally.meter.plan().network
    }

    fn tls_config(&self, host: &url::Host<String>) -> Arc<rustls::ClientConfig> {
        let make = || tls::Tls::new(self.settings(), &self.network().tls);
        self.tls.get_or_init(make).config(host)
    }

    /// Logs what `httpDebug` asks for; `text` is made only if it asks.
    fn debug(&self, text: impl FnOnce(model::network::HttpDebug) -> String) {
        if let Some(what) = self.network().http_debug {
            self.tally.meter.log(Level::Info, text(what));
        }
    }

    /// Whether a connection to `origin` may carry several requests at once.
    fn may_share(&self, origin: &Origin) -> bool {
        match self.settings().http_version {
            HttpVersion::Agreed => origin.tls,
            HttpVersion::Http1 => false,
            HttpVersion::Http2 => true,
        }
    }

    /// Whether HTTP/2 is spoken without asking.
    fn prior_knowledge(&self) -> bool {
        self.settings().http_version == HttpVersion::Http2
    }

    fn speaks_http1(&self, origin: &Origin) -> bool {
        self.http1.borrow().contains(origin)
    }

    fn spoke_http1(&self, origin: &Origin) {
        const ORIGINS_MAX: usize = 1000;
        let mut known = self.http1.borrow_mut();
        if !known.contains(origin) && known.len() < ORIGINS_MAX {
            known.push(origin.clone());
        }
    }
}

/// The connections and cookies of one user.
pub(crate) struct Client {
    net: Rc<Net>,
    idle: RefCell<Vec<Connection>>,
    shared: RefCell<Vec<Rc<Http2>>>,
    dialing: RefCell<Dialing>,
    jar: SharedJar,
    traffic: Rc<Traffic>,
    channels: grpc::Channels,
    /// The address of this machine that its connections leave from, if the plan says so.
    from: Option<IpAddr>,
}

/// What came of a hop.
struct Incoming {
    answered: Result<Answered, Failure>,
    timings: Timings,
    remote: Option<std::net::SocketAddr>,
    tls: Option<tls::Agreed>,
}

impl Client {
    /// The client of user `number` (1, 2, …).
    pub(crate) fn new(net: Rc<Net>, number: u32) -> Self {
        Self {
            from: source::of_user(&net.network().local_addresses, number),
            net,
            idle: RefCell::default(),
            shared: RefCell::default(),
            dialing: RefCell::default(),
            jar: SharedJar::default(),
            traffic: Rc::default(),
            channels: grpc::Channels::default(),
        }
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

    /// Closes all idle connections.
    pub(crate) fn close(&self) {
        self.idle.borrow_mut().clear();
        self.shared.borrow_mut().clear();
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
        self.keep_pace(alarm, leash).await?;
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
            let failure = self.sample(&request, (&target, endpoint), &incoming, challenge.is_some());
            if let Ok(answered) = &incoming.answered {
                store_cookies(&jar, &answered.head, &target);
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

    /// Waits for the moment that `rps` allows; `None` if the scenario cuts that off.
    async fn keep_pace(&self, alarm: &mut Alarm, leash: &Leash) -> Option<()> {
        let Some(pace) = &self.net.pace else { return Some(()) };
        let now = self.net.tally.clock.now();
        let turn = pace.take(now);
        if turn > now && alarm.sleep_until(turn, leash).await == Elapsed::Cut {
            return None;
        }
        Some(())
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
        self.net.debug(|what| debug::request(&outgoing, &self.net.defaults, jar, what));
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
        if let Ok(answered) = &answered {
            self.net.debug(|what| debug::response(answered, what));
        }
        let timings = progress.timings(began, ended);
        let (remote, tls) = (progress.remote.get(), progress.tls.get());
        Some(Incoming { answered, timings, remote, tls })
    }

    /// Adds the samples of a hop; returns why it failed.
    fn sample(
        &self,
        request: &Request,
        (target, endpoint): (&Target, Endpoint),
        incoming: &Incoming,
        is_challenge: bool,
    ) -> Option<Failure> {
        let (status, proto, failure) = match &incoming.answered {
            Ok(answered) => {
                let status = answered.head.status.as_u16();
                (status, answered.head.proto, failure::status(status))
            }
            Err(failure) => (0, "", Some(failure.clone())),
        };
        self.net.samples.add(
            &self.net.tally.meter,
            &Hop {
                base: request.tags,
                endpoint,
                method: &request.method,
                url: &target.url,
                answered: incoming.answered.as_ref().ok().map(|answered| &answered.head),
                status,
                proto,
                // As in k6, what got no answer has none.
                tls_version: incoming.tls.filter(|_| status != 0).map(|tls| tls.version),
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
    let Incoming { answered, timings, remote, tls } = incoming;
    let (tls_version, tls_cipher_suite) = (tls.map(|tls| tls.version), tls.map(|tls| tls.cipher_suite));
    let (status, proto, headers, body, error) = match answered {
        Ok(Answered { head, body }) => (head.status.as_u16(), head.proto, head.headers, body, failure),
        Err(failure) => (0, "", Headers::default(), None, Some(failure)),
    };
    Response { status, url, proto, remote, headers, body, cookies, timings, tls_version, tls_cipher_suite, error }
}

fn store_cookies(jar: &SharedJar, head: &Head, target: &Target) {
    if !head.sets_cookies {
        return;
    }
    for header in head.headers.get_all(SET_COOKIE) {
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
        headers: Headers::default(),
        body: None,
        cookies: Vec::new(),
        timings: Timings::default(),
        tls_version: None,
        tls_cipher_suite: None,
        error: Some(failure),
    }
}

/// An answer with its body as it was before the service packed it; its headers stay. The time that this takes is ours,
/// so it lies behind the end of the request.
fn unpacked(answered: Answered) -> Result<Answered, Failure> {
    let Answered { head, body } = answered;
    if !head.packed {
        return Ok(Answered { head, body });
    }
    let codings = head.headers.get(CONTENT_ENCODING).and_then(|codings| codings.to_str().ok());
    let body = match (body, codings) {
        (Some(body), Some(codings)) => Some(coding::unpack(body, codings).map_err(|error| failure::unpacking(&error))?),
        (body, _) => body,
    };
    Ok(Answered { head, body })
}
