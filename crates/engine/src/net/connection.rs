//! One HTTP/1.1 connection of one user. The user's own task drives it while a request is under way, so that a request
//! costs no task, no channel to another task and no wake-up but the socket's.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::net::{IpAddr, SocketAddr};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::Full;
use hyper::body::Body;
use hyper::client::conn::http1::{self, SendRequest};
use model::unit::Moment;
use rustls::pki_types::ServerName;
use tokio_rustls::TlsConnector;
use url::Host;

use super::target::{Origin, Target};
use super::wire::{Counted, Marks, Stream, Traffic, Wire};
use super::{Net, failure, source, tls};
use crate::user::{Failure, Timings};

/// How long TCP may take to connect.
const DIAL_TIMEOUT: Duration = Duration::from_secs(30);

/// Headers that an answer may have. hyper makes room for so many each time, hence no more.
pub(crate) const HEADERS_MAX: usize = 256;

/// Bytes that the head of an answer may have.
pub(crate) const HEAD_BYTES_MAX: usize = 400 * 1024;

/// What is known of a request while it is under way, and still when it is cut short.
#[derive(Default)]
pub(crate) struct Progress {
    connecting_ms: Cell<f64>,
    tls_ms: Cell<f64>,
    got: Cell<Option<Moment>>,
    marks: RefCell<Option<Rc<Marks>>>,
    pub(crate) remote: Cell<Option<SocketAddr>>,
    pub(crate) tls_version: Cell<Option<&'static str>>,
}

fn milliseconds(from: Moment, to: Moment) -> f64 {
    to.0.saturating_sub(from.0) as f64 / 1e6
}

impl Progress {
    /// The phases of a request that went on from `began` to `ended`. What was under way when it failed is counted
    /// up to the end, so that a timeout is as long as it felt.
    pub(crate) fn timings(&self, began: Moment, ended: Moment) -> Timings {
        let mut timings =
            Timings { connecting: self.connecting_ms.get(), tls_handshaking: self.tls_ms.get(), ..Timings::default() };
        let marks = self.marks.borrow();
        let (Some(got), Some(marks)) = (self.got.get(), marks.as_ref()) else {
            timings.blocked = milliseconds(began, ended);
            return timings;
        };
        timings.blocked = milliseconds(began, got);
        let Some(wrote) = marks.wrote() else {
            timings.sending = milliseconds(got, ended);
            return timings;
        };
        // An answer may begin before the request is written to its end.
        let first = marks.first_read().unwrap_or(ended);
        let wrote = wrote.min(first);
        timings.sending = milliseconds(got, wrote);
        timings.waiting = milliseconds(wrote, first);
        timings.receiving = milliseconds(first, ended);
        timings
    }
}

/// The head of an answer, and its body if it was wanted.
pub(crate) struct Answered {
    pub(crate) head: http::response::Parts,
    pub(crate) body: Option<Bytes>,
}

/// Why an exchange failed.
pub(crate) struct Broken {
    pub(crate) failure: Failure,
    /// Whether the answer had begun.
    pub(crate) answer_begun: bool,
}

type Driver = http1::Connection<Wire, Full<Bytes>>;

/// See the module.
pub(crate) struct Connection {
    target: Rc<Target>,
    line: Line,
    marks: Rc<Marks>,
    remote: SocketAddr,
    tls_version: Option<&'static str>,
}

/// The HTTP machinery holds two buffers of 8 kB, so it is there only while it may be needed soon.
enum Line {
    Warm(Box<Http>),
    Parked(Wire),
    Dead,
}

struct Http {
    sender: SendRequest<Full<Bytes>>,
    driver: Driver,
}

impl Http {
    async fn new(wire: Wire) -> hyper::Result<Box<Self>> {
        let mut builder = http1::Builder::new();
        builder.title_case_headers(true).max_headers(HEADERS_MAX).max_buf_size(HEAD_BYTES_MAX);
        let (sender, driver) = builder.handshake(wire).await?;
        Ok(Box::new(Self { sender, driver }))
    }
}

impl Connection {
    /// Connects to the origin of `target`.
    pub(crate) async fn dial(
        net: &Net,
        target: &Rc<Target>,
        traffic: &Rc<Traffic>,
        progress: &Progress,
        from: Option<IpAddr>,
    ) -> Result<Self, Failure> {
        let clock = net.tally.clock;
        let origin = &target.origin;
        let remote = net.resolver.address(origin, clock, net.network()).await?;
        net.gate.pass(&origin.host.to_string(), remote)?;
        let dialed = clock.now();
        let stream = tokio::time::timeout(DIAL_TIMEOUT, source::connect(remote, from)).await;
        let stream = stream.map_err(|_| failure::dial_timeout())?.map_err(|error| failure::dial(&error))?;
        let connected = clock.now();
        progress.connecting_ms.set(milliseconds(dialed, connected));
        stream.set_nodelay(true).map_err(|error| failure::dial(&error))?;
        let counted = Counted::new(stream, traffic.clone(), net.tally.clone());
        let marks = Marks::new(clock);
        let (stream, tls_version) = if origin.tls {
            let (stream, version) = secure(origin, counted, &net.tls_config(&origin.host)).await?;
            progress.tls_ms.set(milliseconds(connected, clock.now()));
            (Stream::Tls(Box::new(stream)), version)
        } else {
            (Stream::Plain(counted), None)
        };
        let line = Line::Parked(Wire::new(stream, marks.clone()));
        Ok(Self { target: target.clone(), line, marks, remote, tls_version })
    }

    /// Whether it leads where `target` is.
    pub(crate) fn leads_to(&self, target: &Rc<Target>) -> bool {
        Rc::ptr_eq(&self.target, target) || self.target.origin == target.origin
    }

    /// Whether it can take a request; reads what the service has sent meanwhile, such as its end. Does not wait: an
    /// answer may come before the request was written to its end, and then there will be no other on this connection.
    pub(crate) async fn alive(&mut self) -> bool {
        let Ok(http) = self.line.warm().await else { return false };
        poll_fn(|cx| {
            let ended = Pin::new(&mut http.driver).poll(cx).is_ready();
            let ready = matches!(http.sender.poll_ready(cx), Poll::Ready(Ok(())));
            Poll::Ready(ready && !ended)
        })
        .await
    }

    /// Gives back its buffers until it is needed again; `false` if it must be closed.
    pub(crate) fn park(&mut self) -> bool {
        self.line = match std::mem::replace(&mut self.line, Line::Dead) {
            Line::Warm(http) => {
                let parts = http.driver.into_parts();
                // What comes without being asked for belongs to no request.
                if parts.read_buf.is_empty() { Line::Parked(parts.io) } else { Line::Dead }
            }
            other => other,
        };
        !matches!(self.line, Line::Dead)
    }

    /// Sends `request` and reads the answer to its end.
    pub(crate) async fn exchange(
        &mut self,
        request: http::Request<Full<Bytes>>,
        keep_body: bool,
        progress: &Progress,
    ) -> Result<Answered, Broken> {
        self.marks.reset();
        *progress.marks.borrow_mut() = Some(self.marks.clone());
        progress.remote.set(Some(self.remote));
        progress.tls_version.set(self.tls_version);
        progress.got.set(Some(self.marks.clock().now()));
        let answered = self.run(request, keep_body).await;
        answered.map_err(|error| {
            let answer_begun = self.marks.first_read().is_some();
            Broken { failure: failure::exchange(&error, answer_begun), answer_begun }
        })
    }

    async fn run(&mut self, request: http::Request<Full<Bytes>>, keep_body: bool) -> hyper::Result<Answered> {
        let Http { sender, driver } = self.line.warm().await?;
        let response = {
            let mut response = pin!(sender.send_request(request));
            poll_fn(|cx| drive(driver, cx, |cx| response.as_mut().poll(cx))).await?
        };
        let (head, mut body) = response.into_parts();
        let mut kept = Kept::default();
        while let Some(frame) = poll_fn(|cx| drive(driver, cx, |cx| Pin::new(&mut body).poll_frame(cx))).await {
            if let Ok(data) = frame?.into_data()
                && keep_body
            {
                kept.add(data);
            }
        }
        Ok(Answered { head, body: keep_body.then(|| kept.into_bytes()) })
    }
}

impl Line {
    async fn warm(&mut self) -> hyper::Result<&mut Http> {
        if !matches!(self, Self::Warm(_))
            && let Self::Parked(wire) = std::mem::replace(self, Self::Dead)
        {
            *self = Self::Warm(Http::new(wire).await?);
        }
        match self {
            Self::Warm(http) => Ok(http),
            Self::Parked(_) | Self::Dead => unreachable!("a connection that could not be parked is dropped"),
        }
    }
}

/// Polls what waits for the connection, then the connection, then the former again. Only the connection is given the
/// real waker: what waits for it is looked at whenever it moved.
fn drive<T>(driver: &mut Driver, cx: &mut Context<'_>, mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> Poll<T> {
    let mut silent = Context::from_waker(Waker::noop());
    if let Poll::Ready(value) = poll(&mut silent) {
        return Poll::Ready(value);
    }
    // An end or an error of the connection reaches what waits for it.
    let _ = Pin::new(driver).poll(cx);
    poll(&mut silent)
}

async fn secure(
    origin: &Origin,
    counted: Counted,
    config: &Arc<rustls::ClientConfig>,
) -> Result<(tokio_rustls::client::TlsStream<Counted>, Option<&'static str>), Failure> {
    let name = match &origin.host {
        Host::Domain(name) => ServerName::try_from(name.clone()).map_err(|error| failure::other(error.to_string()))?,
        Host::Ipv4(address) => ServerName::from(std::net::IpAddr::from(*address)),
        Host::Ipv6(address) => ServerName::from(std::net::IpAddr::from(*address)),
    };
    let connecting = TlsConnector::from(config.clone()).connect(name, counted);
    let stream = connecting.await.map_err(|error| failure::handshake(&error))?;
    let version = tls::version(stream.get_ref().1.protocol_version());
    Ok((stream, version))
}

/// The parts of a body: copied only if there is more than one.
#[derive(Default)]
struct Kept {
    first: Bytes,
    all: BytesMut,
}

impl Kept {
    fn add(&mut self, data: Bytes) {
        if self.first.is_empty() && self.all.is_empty() {
            self.first = data;
            return;
        }
        if self.all.is_empty() {
            self.all.extend_from_slice(&std::mem::take(&mut self.first));
        }
        self.all.extend_from_slice(&data);
    }

    fn into_bytes(self) -> Bytes {
        if self.all.is_empty() { self.first } else { self.all.freeze() }
    }
}
