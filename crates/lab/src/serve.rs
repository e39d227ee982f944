//! A listening socket with the backlog that was asked for, a slow accept loop if wanted, and a server that stops with
//! its requests answered. Must never know what the answers are.

use std::future::IntoFuture;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context;
use axum::Router;
use axum::serve::Listener;
use socket2::{Domain, Socket, Type};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep, sleep_until};

use crate::out;
use crate::stop::{Ending, StopSignals};

/// Time for requests in flight to be answered after the first stop signal.
pub const FINISH_WITHIN: Duration = Duration::from_secs(5);

/// Pause after a failed accept, mostly for want of file descriptors.
const AFTER_FAILED_ACCEPT: Duration = Duration::from_millis(100);

/// The accept loop's own conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListenOptions {
    /// Where to listen.
    pub address: SocketAddr,
    /// Length of the kernel's queue of connections that nobody took yet; the kernel caps it at `somaxconn`.
    pub backlog: i32,
    /// Pause of the accept loop after each connection.
    pub accept_delay: Duration,
}

/// A listener that pauses after each connection.
#[derive(Debug)]
pub struct PacedListener {
    listener: TcpListener,
    accept_delay: Duration,
    next_accept: Option<Instant>,
}

impl PacedListener {
    /// Binds and listens; needs a running tokio runtime.
    pub fn bind(options: ListenOptions) -> anyhow::Result<Self> {
        let listener = bind(options.address, options.backlog)
            .with_context(|| format!("could not listen on {}", options.address))?;
        Ok(Self { listener, accept_delay: options.accept_delay, next_accept: None })
    }
}

impl Listener for PacedListener {
    type Io = TcpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        // The pause stands before the next accept rather than after this one, so that a connection, once taken, is
        // served at once and cannot be lost when the server stops meanwhile.
        if let Some(moment) = self.next_accept.take() {
            sleep_until(moment).await;
        }
        loop {
            match self.listener.accept().await {
                Ok((stream, peer)) => {
                    // An answer must not wait for the client's acknowledgement of the one before.
                    let _ = stream.set_nodelay(true);
                    if !self.accept_delay.is_zero() {
                        self.next_accept = Some(Instant::now() + self.accept_delay);
                    }
                    return (stream, peer);
                }
                Err(error) => {
                    out::warn("accept_failed", &[("reason", &error)]);
                    sleep(AFTER_FAILED_ACCEPT).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A listening TCP socket with a backlog of our choice.
pub(crate) fn bind(address: SocketAddr, backlog: i32) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM.nonblocking(), None)?;
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(backlog)?;
    TcpListener::from_std(socket.into())
}

/// Serves until a stop signal, then takes no more connections and finishes what is in flight.
pub async fn until_stopped(
    listener: PacedListener,
    router: Router,
    mut signals: StopSignals,
) -> anyhow::Result<Ending> {
    let (tell, told) = tokio::sync::oneshot::channel::<()>();
    let server = axum::serve(listener, router).with_graceful_shutdown(async move {
        let _ = told.await;
    });
    // On a worker like every connection: the thread that waits here is not one of the counted workers.
    let mut server = tokio::spawn(server.into_future());
    tokio::select! {
        _ = signals.next() => {}
        outcome = &mut server => {
            outcome.context("the server ended unexpectedly")?.context("the server failed")?;
        }
    }
    drop(tell);
    tokio::select! {
        _ = &mut server => Ok(Ending::Graceful),
        signal = signals.next() => Ok(Ending::Insisted(signal)),
        () = sleep(FINISH_WITHIN) => {
            out::warn("requests_cut_off", &[("after_s", &FINISH_WITHIN.as_secs())]);
            Ok(Ending::Graceful)
        }
    }
}
