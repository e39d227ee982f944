//! HTTP/2: one connection of a user to an origin carries all of its requests there, batches at once. A task of its own
//! drives it and ends with it.

use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::{Buf, Bytes};
use h2::client::{ResponseFuture, SendRequest};
use h2::{Reason, RecvStream, SendStream};
use http::header::{CONTENT_ENCODING, SET_COOKIE};
use tokio::task::{AbortHandle, spawn_local};

use super::connection::{Answered, Facts, Head, Progress};
use super::failure;
use super::http1::HEAD_BYTES_MAX;
use super::http1::answer::Kept;
use super::wire::Stream;
use crate::clock::Clock;
use crate::user::Failure;

/// What may be under way to us, as Go's client has it: bodies are never what stalls a connection.
const STREAM_WINDOW_BYTES: u32 = 4 << 20;
const CONNECTION_WINDOW_BYTES: u32 = 1 << 30;

/// See the module.
pub(crate) struct Http2 {
    pub(crate) facts: Facts,
    sender: SendRequest<Bytes>,
    driver: AbortHandle,
    clock: Clock,
}

/// Why a request got no answer.
pub(crate) enum Undone {
    /// The service has not looked at it and never will: it may be sent again.
    Unprocessed(Failure),
    /// The connection broke before the answer began.
    Lost(Failure),
    /// For good.
    Failed(Failure),
}

impl Drop for Http2 {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Http2 {
    pub(crate) async fn new(stream: Stream, facts: Facts) -> Result<Rc<Self>, Failure> {
        let clock = stream.clock();
        let mut builder = h2::client::Builder::new();
        builder
            .enable_push(false)
            .initial_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .max_header_list_size(HEAD_BYTES_MAX as u32);
        let (sender, connection) = builder.handshake(stream).await.map_err(|error| failure_of(&error))?;
        let driver = spawn_local(async move {
            // Its end reaches every request that is under way.
            let _ = connection.await;
        });
        Ok(Rc::new(Self { facts, sender, driver: driver.abort_handle(), clock }))
    }

    /// Whether it still takes requests, as far as is known.
    pub(crate) fn open(&self) -> bool {
        !self.driver.is_finished() && self.said_farewell().is_none()
    }

    /// The reason of the service's GOAWAY, or of what else ended the connection.
    fn said_farewell(&self) -> Option<h2::Error> {
        let mut sender = self.sender.clone();
        match sender.poll_ready(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Err(error)) => Some(error),
            _ => None,
        }
    }

    /// Sends a request and reads the answer to its end.
    pub(crate) async fn exchange(
        &self,
        request: http::Request<()>,
        body: Bytes,
        kept: Kept<'_>,
        progress: &Progress,
    ) -> Result<Answered, Undone> {
        let unsent = |error: h2::Error| Undone::Unprocessed(failure_of(&error));
        let mut sender = self.sender.clone().ready().await.map_err(unsent)?;
        self.facts.takes_one();
        progress.got(self.clock.now(), &self.facts);
        let (response, send) =
            sender.send_request(request, body.is_empty()).map_err(|error| self.undone(&error, false))?;
        let answered = self.answer(response, Upload { send, rest: body }, progress).await;
        let (parts, mut stream) = answered.map_err(|error| self.undone(&error, false))?.into_parts();
        let packed = parts.headers.contains_key(CONTENT_ENCODING);
        let sets_cookies = parts.headers.contains_key(SET_COOKIE);
        let body = read(&mut stream, kept).await.map_err(|broken| match broken {
            Unread::Stream(error) => self.undone(&error, true),
            Unread::TooLarge(failure) => Undone::Failed(failure),
        })?;
        let head =
            Head { status: parts.status, proto: "HTTP/2.0", headers: parts.headers.into(), sets_cookies, packed };
        Ok(Answered { head, body })
    }

    /// The head of the answer, while the body of the request goes out as far as the service lets it.
    async fn answer(
        &self,
        mut response: ResponseFuture,
        mut upload: Upload,
        progress: &Progress,
    ) -> Result<http::Response<RecvStream>, h2::Error> {
        poll_fn(|cx| {
            // A service may answer without reading the request to its end: then the answer counts.
            if progress.wrote.get().is_none() && matches!(upload.poll(cx), Poll::Ready(Ok(()))) {
                progress.wrote.set(Some(self.clock.now()));
            }
            let polled = std::pin::Pin::new(&mut response).poll(cx);
            if polled.is_ready() {
                progress.first_read.set(Some(self.clock.now()));
            }
            polled
        })
        .await
        .inspect_err(|_| progress.first_read.set(None))
    }

    fn undone(&self, error: &h2::Error, answer_begun: bool) -> Undone {
        // What the service has not looked at carries its GOAWAY; what it had begun ends with the connection.
        let refused = error.is_remote() && (error.is_go_away() || error.reason() == Some(Reason::REFUSED_STREAM));
        if refused && !answer_begun {
            return Undone::Unprocessed(failure_of(error));
        }
        if error.is_io() {
            if let Some(farewell) =
                self.said_farewell().filter(|farewell| farewell.is_go_away() && farewell.is_remote())
            {
                return Undone::Failed(failure_of(&farewell));
            }
            if !answer_begun {
                return Undone::Lost(failure_of(error));
            }
        }
        Undone::Failed(failure_of(error))
    }
}

/// The body of a request on its way out.
struct Upload {
    send: SendStream<Bytes>,
    rest: Bytes,
}

impl Upload {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), h2::Error>> {
        while !self.rest.is_empty() {
            self.send.reserve_capacity(self.rest.len());
            match self.send.poll_capacity(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => return Poll::Pending,
                Poll::Ready(Some(granted)) => {
                    let part = self.rest.split_to(granted?.min(self.rest.len()));
                    self.send.send_data(part, !self.rest.has_remaining())?;
                }
            }
        }
        Poll::Ready(Ok(()))
    }
}

/// Why a body could not be read.
enum Unread {
    Stream(h2::Error),
    TooLarge(Failure),
}

/// Reads a body; what was read makes room for more at once, whether it is kept or dropped.
async fn read(stream: &mut RecvStream, mut kept: Kept<'_>) -> Result<Option<Bytes>, Unread> {
    while let Some(data) = stream.data().await {
        let data = data.map_err(Unread::Stream)?;
        stream.flow_control().release_capacity(data.len()).map_err(Unread::Stream)?;
        kept.add(&data).map_err(|fault| Unread::TooLarge(failure::exchange(&fault, true)))?;
    }
    // Trailers are read and dropped, but they may be what breaks.
    stream.trailers().await.map_err(Unread::Stream)?;
    Ok(kept.take())
}

/// In k6's codes and words.
fn failure_of(error: &h2::Error) -> Failure {
    if let Some(error) = error.get_io() {
        return match error.kind() {
            io::ErrorKind::BrokenPipe | io::ErrorKind::UnexpectedEof => failure::other("unexpected EOF"),
            _ => failure::transport(error),
        };
    }
    let Some(reason) = error.reason() else { return failure::other(format!("http2: {error}")) };
    let (base, what) = match () {
        () if error.is_go_away() && error.is_remote() => (1610, "received GoAway"),
        () if error.is_reset() => (1630, "stream error"),
        () => (1650, "connection error"),
    };
    failure::http2(base, what, u32::from(reason))
}
