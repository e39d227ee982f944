//! Connections of one user: how they come about, what is known of them, and HTTP/1.1 over them. The user's own task
//! drives them, so that a request costs no task, no channel to another task and no wake-up but the socket's.

use std::cell::Cell;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use model::unit::Moment;
use rustls::pki_types::ServerName;
use tokio::net::UnixStream;
use tokio_rustls::TlsConnector;
use url::Host;

use super::http1::answer::{Reader, Wants};
use super::http1::{self, Sending};
use super::http2::Http2;
use super::outgoing::Outgoing;
use super::proxy::Proxy;
use super::target::{Origin, Target};
use super::tls::Agreed;
use super::wire::{Counted, Stream, Traffic, Transport};
use super::{Net, failure, source, tls};
use crate::net::cookies::SharedJar;
use crate::user::{Failure, Timings};

pub(crate) use super::http1::answer::Head;

/// How long TCP may take to connect.
const DIAL_TIMEOUT: Duration = Duration::from_secs(30);

/// What is known of a request while it is under way, and still when it is cut short.
#[derive(Default)]
pub(crate) struct Progress {
    connecting_ms: Cell<f64>,
    tls_ms: Cell<f64>,
    got: Cell<Option<Moment>>,
    /// When the last byte of the request was written.
    pub(crate) wrote: Cell<Option<Moment>>,
    /// When the first byte of the answer was read.
    pub(crate) first_read: Cell<Option<Moment>>,
    pub(crate) remote: Cell<Option<SocketAddr>>,
    pub(crate) tls: Cell<Option<Agreed>>,
}

fn milliseconds(from: Moment, to: Moment) -> f64 {
    to.0.saturating_sub(from.0) as f64 / 1e6
}

impl Progress {
    /// The request has a connection now.
    pub(crate) fn got(&self, now: Moment, facts: &Facts) {
        self.got.set(Some(now));
        self.wrote.set(None);
        self.first_read.set(None);
        self.remote.set(facts.remote);
        self.tls.set(facts.tls);
    }

    /// The phases of a request that went on from `began` to `ended`. What was under way when it failed is counted
    /// up to the end, so that a timeout is as long as it felt.
    pub(crate) fn timings(&self, began: Moment, ended: Moment) -> Timings {
        let mut timings =
            Timings { connecting: self.connecting_ms.get(), tls_handshaking: self.tls_ms.get(), ..Timings::default() };
        let Some(got) = self.got.get() else {
            timings.blocked = milliseconds(began, ended);
            return timings;
        };
        timings.blocked = milliseconds(began, got);
        // An answer may begin before the request is written to its end.
        let first = self.first_read.get().unwrap_or(ended);
        let wrote = self.wrote.get().unwrap_or(first).min(first);
        timings.sending = milliseconds(got, wrote);
        timings.waiting = milliseconds(wrote, first);
        timings.receiving = milliseconds(first, ended);
        timings
    }
}

/// The head of an answer, and its body if it was wanted.
pub(crate) struct Answered {
    pub(crate) head: Head,
    pub(crate) body: Option<Bytes>,
}

/// Why an exchange failed.
pub(crate) struct Broken {
    pub(crate) failure: Failure,
    /// Whether the answer had begun.
    pub(crate) answer_begun: bool,
}

/// What is known of a connection.
pub(crate) struct Facts {
    pub(crate) target: Rc<Target>,
    pub(crate) remote: Option<SocketAddr>,
    pub(crate) tls: Option<Agreed>,
    born: Moment,
    requests: Cell<u32>,
}

impl Facts {
    /// Whether the connection leads where `target` is.
    pub(crate) fn lead_to(&self, target: &Rc<Target>) -> bool {
        Rc::ptr_eq(&self.target, target) || self.target.origin == target.origin
    }

    /// Whether the plan lets it take another request at `now`.
    pub(crate) fn young(&self, net: &Net, now: impl FnOnce() -> Moment) -> bool {
        let settings = net.settings();
        settings.connection_max_requests.is_none_or(|most| self.requests.get() < most)
            && settings.connection_max_age.is_none_or(|most| now() < self.born + most)
    }

    /// It takes another request.
    pub(crate) fn takes_one(&self) {
        self.requests.set(self.requests.get().saturating_add(1));
    }
}

/// An HTTP/1.1 connection.
pub(crate) struct Connection {
    pub(crate) facts: Facts,
    stream: Stream,
    /// The proxy that passes each request on, if one does.
    proxy: Option<Rc<Proxy>>,
}

/// A new connection, by the protocol that both sides agreed on.
pub(crate) enum Dialed {
    Http1(Connection),
    Http2(Rc<Http2>),
}

impl Connection {
    /// Whether it can take a request.
    pub(crate) fn usable(&mut self, net: &Net) -> bool {
        self.facts.young(net, || net.tally.clock.now()) && http1::quiet(&mut self.stream)
    }

    /// Sends a request and reads the answer to its end. Returns also whether the connection may be kept.
    pub(crate) async fn exchange(
        &mut self,
        net: &Net,
        outgoing: &Outgoing<'_>,
        jar: &SharedJar,
        progress: &Progress,
    ) -> Result<(Answered, bool), Broken> {
        self.facts.takes_one();
        progress.got(net.tally.clock.now(), &self.facts);
        let proxy = self.proxy.as_deref();
        let sending = Sending {
            head: &|out| outgoing.write(out, &net.defaults, jar, proxy),
            body: outgoing.body.clone(),
            withheld: outgoing.expects_continue(),
        };
        let wants = Wants { head_only: outgoing.method == Method::HEAD, body: outgoing.keep_body };
        let mut reader = Reader::new(wants, &net.held);
        match http1::exchange(&mut self.stream, &net.scratch, sending, &mut reader, progress).await {
            Ok(in_order) => {
                let (head, body) = reader.finish();
                Ok((Answered { head, body }, in_order && !outgoing.closes(&net.defaults)))
            }
            Err(fault) => {
                let answer_begun = progress.first_read.get().is_some();
                Err(Broken { failure: failure::exchange(&fault, answer_begun), answer_begun })
            }
        }
    }
}

/// Connects to the origin of `target`. On the heap, since it is rare and its state is large.
pub(crate) fn dial<'a>(
    net: &'a Net,
    target: &'a Rc<Target>,
    traffic: &'a Rc<Traffic>,
    progress: &'a Progress,
    from: Option<IpAddr>,
) -> Pin<Box<dyn Future<Output = Result<Dialed, Failure>> + 'a>> {
    Box::pin(async move {
        let clock = net.tally.clock;
        let origin = &target.origin;
        if net.prior_knowledge() && !origin.tls && net.proxies.of(origin).is_some() {
            return Err(failure::other("proxy: HTTP/2 without TLS cannot be spoken through a proxy"));
        }
        let (mut counted, remote, proxy) = reach(net, origin, traffic, progress, from).await?;
        let connected = clock.now();
        let mut agreed_h2 = net.prior_knowledge();
        let (stream, tls) = if origin.tls {
            if let Some(proxy) = &proxy {
                proxy.connect(&mut counted, target).await?;
            }
            let stream = secure(origin, counted, &net.tls_config(&origin.host)).await?;
            progress.tls_ms.set(milliseconds(connected, clock.now()));
            let session = stream.get_ref().1;
            let required = agreed_h2;
            agreed_h2 = session.alpn_protocol() == Some(b"h2");
            if required && !agreed_h2 {
                return Err(failure::other("http2: the service does not agree to speak HTTP/2"));
            }
            let agreed = tls::agreed(session);
            (Stream::Tls(Box::new(stream)), agreed)
        } else {
            (Stream::Plain(counted), None)
        };
        let facts = Facts { target: target.clone(), remote, tls, born: clock.now(), requests: Cell::new(0) };
        if agreed_h2 {
            return Ok(Dialed::Http2(Http2::new(stream, facts).await?));
        }
        let proxy = proxy.filter(|_| !origin.tls);
        Ok(Dialed::Http1(Connection { facts, stream, proxy }))
    })
}

/// Opens a stream to the origin of `target` over which HTTP/1.1 is spoken, to be used for something else behind the
/// first answer. A proxy is asked for a tunnel, whatever goes through it.
pub(crate) fn tunnel<'a>(
    net: &'a Net,
    target: &'a Target,
    traffic: &'a Rc<Traffic>,
    from: Option<IpAddr>,
) -> Pin<Box<dyn Future<Output = Result<Stream, Failure>> + 'a>> {
    Box::pin(async move {
        let origin = &target.origin;
        let (mut counted, _, proxy) = reach(net, origin, traffic, &Progress::default(), from).await?;
        if let Some(proxy) = &proxy {
            proxy.connect(&mut counted, target).await?;
        }
        if !origin.tls {
            return Ok(Stream::Plain(counted));
        }
        let mut config = (*net.tls_config(&origin.host)).clone();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Stream::Tls(Box::new(secure(origin, counted, &Arc::new(config)).await?)))
    })
}

/// Connects to `origin`, or to the proxy that leads there.
async fn reach(
    net: &Net,
    origin: &Origin,
    traffic: &Rc<Traffic>,
    progress: &Progress,
    from: Option<IpAddr>,
) -> Result<(Counted, Option<SocketAddr>, Option<Rc<Proxy>>), Failure> {
    let proxy = net.proxies.of(origin).transpose().map_err(failure::other)?;
    let (transport, remote) = match &proxy {
        Some(proxy) => {
            net.gate.pass_by_proxy(origin, &net.resolver, net.tally.clock, net.network()).await?;
            let dialed = tcp(net, &proxy.origin, progress, from).await;
            dialed.map_err(|failure| failure::proxy_dial(&failure, &proxy.origin))?
        }
        None if origin.unix => (unix(origin, net, progress).await?, None),
        None => tcp(net, origin, progress, from).await?,
    };
    Ok((Counted::new(transport, traffic.clone(), net.tally.clone()), remote, proxy))
}

async fn tcp(
    net: &Net,
    origin: &Origin,
    progress: &Progress,
    from: Option<IpAddr>,
) -> Result<(Transport, Option<SocketAddr>), Failure> {
    let clock = net.tally.clock;
    let remote = net.resolver.address(origin, clock, net.network()).await?;
    net.gate.pass(&origin.host.to_string(), remote)?;
    let dialed = clock.now();
    let stream = tokio::time::timeout(DIAL_TIMEOUT, source::connect(remote, from)).await;
    let stream = stream.map_err(|_| failure::dial_timeout())?.map_err(|error| failure::dial(&error))?;
    progress.connecting_ms.set(milliseconds(dialed, clock.now()));
    stream.set_nodelay(true).map_err(|error| failure::dial(&error))?;
    Ok((Transport::Tcp(stream), Some(remote)))
}

/// A unix socket is on this machine by its nature, so that nobody has to be asked for it.
async fn unix(origin: &Origin, net: &Net, progress: &Progress) -> Result<Transport, Failure> {
    let dialed = net.tally.clock.now();
    let Host::Domain(path) = &origin.host else { unreachable!("the host of a unix socket is its path") };
    let stream = UnixStream::connect(path).await.map_err(|error| failure::dial(&error))?;
    progress.connecting_ms.set(milliseconds(dialed, net.tally.clock.now()));
    Ok(Transport::Unix(stream))
}

async fn secure(
    origin: &Origin,
    counted: Counted,
    config: &Arc<rustls::ClientConfig>,
) -> Result<tokio_rustls::client::TlsStream<Counted>, Failure> {
    let name = match &origin.host {
        Host::Domain(name) => ServerName::try_from(name.clone()).map_err(|error| failure::other(error.to_string()))?,
        Host::Ipv4(address) => ServerName::from(std::net::IpAddr::from(*address)),
        Host::Ipv6(address) => ServerName::from(std::net::IpAddr::from(*address)),
    };
    let connecting = TlsConnector::from(config.clone()).connect(name, counted);
    connecting.await.map_err(|error| failure::handshake(&error))
}
