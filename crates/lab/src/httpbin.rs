//! A service that answers what a test of HTTP clients wants to see – echoes, redirects, cookies, logins, packed and slow
//! bodies, WebSockets – at a plain door, a TLS door and one that asks for a client certificate, and that records what it
//! was asked. Its answers depend on the request alone, so that two clients can be compared. Must never answer anything
//! random, and must never keep a record of more than a test's worth of requests.

use std::future::IntoFuture;
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context;
use axum::Router;
use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

use crate::args::HttpbinArgs;
use crate::serve::{self, ListenOptions, PacedListener};
use crate::stop::{Ending, StopSignals};
use crate::{laptop, os, out};

mod cookies;
mod echo;
mod flow;
mod login;
mod multipart;
mod packed;
mod pages;
mod recorder;
mod redirects;
mod sockets;
mod tls;

use recorder::Recorder;
use tls::{Certificates, Door, TlsDoor};

const BACKLOG: i32 = 1024;

/// What the service prints once it answers: one line of JSON.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HttpbinReady {
    /// Always true.
    pub ready: bool,
    /// The plain door.
    pub url: String,
    /// The TLS door; HTTP/2 for who offers it.
    pub https: String,
    /// The TLS door that asks for a client certificate.
    pub mtls: String,
    /// The authority that signed the certificates of both, in PEM.
    pub authority: String,
    /// A client certificate that the last door accepts, in PEM.
    pub certificate: String,
    /// Its private key, in PEM.
    pub key: String,
    /// The process to signal.
    pub pid: u32,
}

/// Who asks: an address names a connection, and the door says whether it is a TLS one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer {
    address: SocketAddr,
    is_tls: bool,
}

impl Connected<IncomingStream<'_, PacedListener>> for Peer {
    fn connect_info(stream: IncomingStream<'_, PacedListener>) -> Self {
        Self { address: *stream.remote_addr(), is_tls: false }
    }
}

impl Connected<IncomingStream<'_, TlsDoor>> for Peer {
    fn connect_info(stream: IncomingStream<'_, TlsDoor>) -> Self {
        Self { address: *stream.remote_addr(), is_tls: true }
    }
}

/// Serves until a stop signal.
pub fn run(arguments: &HttpbinArgs) -> anyhow::Result<Ending> {
    if arguments.with_parent {
        laptop::end_with_parent()?;
    }
    os::raise_open_files();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(serve(arguments))
}

async fn serve(arguments: &HttpbinArgs) -> anyhow::Result<Ending> {
    let mut signals = StopSignals::listen()?;
    let plain = PacedListener::bind(ListenOptions {
        address: arguments.listen,
        backlog: BACKLOG,
        accept_delay: Duration::ZERO,
    })?;
    let address = plain.local_addr().context("could not learn the address that the service listens on")?;
    let certificates = Certificates::make().context("could not make the certificates of the TLS doors")?;
    let beside = || serve::bind(SocketAddr::new(address.ip(), 0), BACKLOG).context("could not open a TLS door");
    let (secure, mutual) = (beside()?, beside()?);
    let at = |listener: &TcpListener| listener.local_addr().map(|door| format!("https://localhost:{}", door.port()));
    let ready = HttpbinReady {
        ready: true,
        url: format!("http://{address}"),
        https: at(&secure)?,
        mtls: at(&mutual)?,
        authority: certificates.authority.clone(),
        certificate: certificates.client.clone(),
        key: certificates.client_key.clone(),
        pid: std::process::id(),
    };
    let service = router().into_make_service_with_connect_info::<Peer>();
    let secure = axum::serve(TlsDoor::open(secure, certificates.server(Door::Open)?)?, service.clone());
    let mutual = axum::serve(TlsDoor::open(mutual, certificates.server(Door::CertificatesOnly)?)?, service.clone());
    let plain = axum::serve(plain, service);
    out::json(&ready)?;
    // The tests that use this service have read their answers when they stop it: nothing is worth waiting for.
    tokio::select! {
        _ = signals.next() => Ok(Ending::Graceful),
        outcome = plain.into_future() => outcome.context("the plain door failed").map(|()| Ending::Graceful),
        outcome = secure.into_future() => outcome.context("the TLS door failed").map(|()| Ending::Graceful),
        outcome = mutual.into_future() => outcome.context("the door for certificates failed").map(|()| Ending::Graceful),
    }
}

/// All endpoints, each family in its file, and the record around them.
fn router() -> Router {
    let recorder = Recorder::default();
    let families = [
        echo::routes(),
        flow::routes(),
        redirects::routes(),
        cookies::routes(),
        login::routes(),
        packed::routes(),
        pages::routes(),
        sockets::routes(recorder.clone()),
    ];
    let all = families.into_iter().fold(Router::new(), Router::merge);
    let recorded = all.layer(axum::middleware::from_fn_with_state(recorder.clone(), recorder::record));
    recorded.merge(recorder::routes(recorder))
}
