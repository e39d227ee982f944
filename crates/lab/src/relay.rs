//! A TCP relay that makes the road longer: every byte arrives a fixed time later, in both directions, at an unchanged
//! rate. Each direction is a queue of chunks with the moment when each is due; the queue is bounded in bytes, so a
//! slow receiver slows its sender down. Must never look at what it carries. Timers tick in milliseconds, so a delay is
//! never shorter than asked and up to a millisecond longer. The client's handshake is the kernel's and is not delayed.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use tokio::io::AsyncWriteExt;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep, sleep_until};

use crate::args::RelayArgs;
use crate::stop::{Ending, StopSignals};
use crate::{laptop, os, out, serve};

const BACKLOG: i32 = 4096;
/// Most bytes on their way in one direction of one connection.
const QUEUE_BYTES: u32 = 4 * 1024 * 1024;
/// What the smallest chunk counts for, so that many tiny ones are bounded, too.
const CHUNK_BYTES_MIN: usize = 512;
const CHUNK_BYTES_MAX: usize = 64 * 1024;

/// What the relay prints once it listens: one line of JSON.
#[derive(Debug, Serialize, Deserialize)]
pub struct RelayReady {
    /// Always true.
    pub ready: bool,
    /// Where it listens.
    pub listen: SocketAddr,
    /// The process to signal.
    pub pid: u32,
}

/// Bytes on their way. Giving up the permit makes room for others.
struct Chunk {
    due: Instant,
    bytes: Vec<u8>,
    _room: OwnedSemaphorePermit,
}

/// Relays until a stop signal, then drops what is on its way.
pub fn run(arguments: &RelayArgs) -> anyhow::Result<Ending> {
    if arguments.with_parent {
        laptop::end_with_parent()?;
    }
    os::raise_open_files();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut signals = StopSignals::listen()?;
        let listener = listen(arguments.listen)?;
        let listen = listener.local_addr().context("could not learn the address that the relay listens on")?;
        out::json(&RelayReady { ready: true, listen, pid: std::process::id() })?;
        tokio::select! {
            () = pass_on(listener, arguments.to, arguments.delay) => {}
            _ = signals.next() => {}
        }
        Ok(Ending::Graceful)
    })
}

fn listen(address: SocketAddr) -> anyhow::Result<TcpListener> {
    serve::bind(address, BACKLOG).with_context(|| format!("could not listen on {address}"))
}

/// Relays every connection of the listener; never returns.
async fn pass_on(listener: TcpListener, to: SocketAddr, delay: Duration) {
    loop {
        match listener.accept().await {
            Ok((client, _)) => {
                tokio::spawn(connection(client, to, delay));
            }
            Err(error) => {
                out::warn("relay_accept_failed", &[("reason", &error)]);
                sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn connection(client: TcpStream, to: SocketAddr, delay: Duration) {
    let server = match TcpStream::connect(to).await {
        Ok(server) => server,
        Err(error) => return out::warn("relay_connect_failed", &[("to", &to), ("reason", &error)]),
    };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    // A broken side ends both; an orderly end of one direction leaves the other open.
    let _ = tokio::try_join!(direction(from_client, to_server, delay), direction(from_server, to_client, delay));
}

async fn direction(from: OwnedReadHalf, to: OwnedWriteHalf, delay: Duration) -> io::Result<()> {
    let (queue, queued) = unbounded_channel();
    tokio::try_join!(take_in(from, queue, delay), give_out(queued, to, delay)).map(|_| ())
}

async fn take_in(from: OwnedReadHalf, queue: UnboundedSender<Chunk>, delay: Duration) -> io::Result<()> {
    let room = Arc::new(Semaphore::new(QUEUE_BYTES as usize));
    loop {
        from.readable().await?;
        let bytes = match read_now(&from) {
            Ok(bytes) if bytes.is_empty() => return Ok(()),
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
            Err(error) => return Err(error),
        };
        let due = Instant::now() + delay;
        let charge = u32::try_from(bytes.len().max(CHUNK_BYTES_MIN)).unwrap_or(QUEUE_BYTES);
        let permit = room.clone().acquire_many_owned(charge).await.map_err(io::Error::other)?;
        if queue.send(Chunk { due, bytes, _room: permit }).is_err() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
    }
}

/// Reads through a buffer on the stack, so that an idle connection holds no buffer.
fn read_now(from: &OwnedReadHalf) -> io::Result<Vec<u8>> {
    let mut buffer = [0; CHUNK_BYTES_MAX];
    let count = from.try_read(&mut buffer)?;
    Ok(buffer[..count].to_vec())
}

async fn give_out(mut queued: UnboundedReceiver<Chunk>, mut to: OwnedWriteHalf, delay: Duration) -> io::Result<()> {
    while let Some(chunk) = queued.recv().await {
        sleep_until(chunk.due).await;
        to.write_all(&chunk.bytes).await?;
    }
    // The end of the stream travels as long as its bytes.
    sleep(delay).await;
    to.shutdown().await
}
