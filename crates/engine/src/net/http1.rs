//! HTTP/1.1 over a connection of one user: the request is written in one piece, and the answer is looked at where it
//! was read. The memory for both belongs to the worker, so that a connection that waits costs none.

pub(crate) mod answer;
mod chunks;

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use super::connection::Progress;
use super::wire::Stream;
use crate::clock::Clock;
use answer::{Fault, Fed, Reader};

/// Bytes that the head of an answer may have.
pub(crate) const HEAD_BYTES_MAX: usize = 400 * 1024;

/// Bodies up to this size go out in one piece with the head.
const SMALL_BYTES: usize = 8 * 1024;

/// Bytes that are read at once.
const READ_BYTES: usize = 64 * 1024;

/// How long a body is withheld that the service was asked to ask for (`Expect: 100-continue`).
const EXPECT_TIMEOUT: Duration = Duration::from_secs(1);

/// The memory of one worker for whoever reads or writes just now.
pub(crate) struct Scratch {
    read: RefCell<Vec<u8>>,
    written: RefCell<Vec<u8>>,
}

impl Default for Scratch {
    fn default() -> Self {
        Self { read: RefCell::new(vec![0; READ_BYTES]), written: RefCell::default() }
    }
}

/// Writes the head of a request.
type WriteHead<'a> = &'a dyn Fn(&mut Vec<u8>);

/// What is sent.
pub(crate) struct Sending<'a> {
    pub(crate) head: WriteHead<'a>,
    pub(crate) body: Bytes,
    /// Whether the body waits until the service asks for it.
    pub(crate) withheld: bool,
}

/// Whether a connection may take a request: whether the service has neither ended it nor sent what nobody asked for.
/// Costs no system call as long as nothing came.
pub(crate) fn quiet(stream: &mut Stream) -> bool {
    let mut byte = [0];
    let mut buffer = ReadBuf::new(&mut byte);
    Pin::new(stream).poll_read(&mut Context::from_waker(Waker::noop()), &mut buffer).is_pending()
}

/// Sends a request and reads the answer to its end. Returns whether the connection is left in order, which it is not if
/// the answer came before the request was written or something came behind it.
pub(crate) async fn exchange(
    stream: &mut Stream,
    scratch: &Scratch,
    sending: Sending<'_>,
    reader: &mut Reader<'_>,
    progress: &Progress,
) -> Result<bool, Fault> {
    let mut exchange = Exchange::new(stream, scratch, sending, reader, progress);
    poll_fn(|cx| exchange.poll(cx)).await
}

struct Exchange<'a, 'b> {
    stream: &'a mut Stream,
    scratch: &'a Scratch,
    head: Option<WriteHead<'a>>,
    /// What of the head, and of a small body with it, could not be written at once.
    rest: Bytes,
    body: Bytes,
    withheld: Option<Pin<Box<Sleep>>>,
    written: bool,
    broken: Option<io::Error>,
    reader: &'a mut Reader<'b>,
    progress: &'a Progress,
    clock: Clock,
}

impl<'a, 'b> Exchange<'a, 'b> {
    fn new(
        stream: &'a mut Stream,
        scratch: &'a Scratch,
        sending: Sending<'a>,
        reader: &'a mut Reader<'b>,
        progress: &'a Progress,
    ) -> Self {
        let withheld = sending.withheld && !sending.body.is_empty();
        Self {
            clock: stream.clock(),
            stream,
            scratch,
            head: Some(sending.head),
            rest: Bytes::new(),
            body: sending.body,
            withheld: withheld.then(|| Box::pin(tokio::time::sleep(EXPECT_TIMEOUT))),
            written: false,
            broken: None,
            reader,
            progress,
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<bool, Fault>> {
        loop {
            if !self.written && self.broken.is_none() {
                // A service may refuse a request before it has read it: then the answer counts, not the trouble.
                match self.poll_write(cx) {
                    Poll::Ready(Ok(())) => {
                        self.written = true;
                        self.progress.wrote.set(Some(self.clock.now()));
                    }
                    Poll::Ready(Err(error)) => self.broken = Some(error),
                    Poll::Pending => {}
                }
            }
            let scratch = &mut *self.scratch.read.borrow_mut();
            let mut buffer = ReadBuf::new(scratch);
            match Pin::new(&mut *self.stream).poll_read(cx, &mut buffer) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Err(error)) => {
                    return Poll::Ready(Err(self.broken.take().map_or(Fault::Read(error), Fault::Write)));
                }
                Poll::Ready(Ok(())) => {}
            }
            let input = buffer.filled();
            if input.is_empty() {
                let ended = self.reader.end().map(|()| false);
                return Poll::Ready(ended.map_err(|fault| self.broken.take().map_or(fault, Fault::Write)));
            }
            if self.progress.first_read.get().is_none() {
                self.progress.first_read.set(Some(self.clock.now()));
            }
            match self.reader.feed(input) {
                Err(fault) => return Poll::Ready(Err(fault)),
                Ok(Fed::Over(used)) => {
                    return Poll::Ready(Ok(self.written && used == input.len() && self.reader.keeps()));
                }
                Ok(Fed::More) => {}
            }
            if self.reader.take_continued() {
                self.withheld = None;
            }
        }
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(head) = self.head.take() {
            let scratch = &mut *self.scratch.written.borrow_mut();
            scratch.clear();
            head(scratch);
            if self.body.len() <= SMALL_BYTES && self.withheld.is_none() {
                scratch.extend_from_slice(&self.body);
                self.body.clear();
            }
            let mut at = 0;
            while at < scratch.len() {
                match Pin::new(&mut *self.stream).poll_write(cx, &scratch[at..])? {
                    Poll::Ready(count) => at += advanced(count)?,
                    Poll::Pending => {
                        self.rest = Bytes::copy_from_slice(&scratch[at..]);
                        return Poll::Pending;
                    }
                }
            }
        }
        ready!(write(self.stream, &mut self.rest, cx))?;
        if let Some(sleep) = &mut self.withheld {
            ready!(Pin::new(&mut *self.stream).poll_flush(cx))?;
            // Whatever the service says to it, it has had its time.
            ready!(sleep.as_mut().poll(cx));
            self.withheld = None;
        }
        ready!(write(self.stream, &mut self.body, cx))?;
        Pin::new(&mut *self.stream).poll_flush(cx)
    }
}

fn write(stream: &mut Stream, part: &mut Bytes, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
    while !part.is_empty() {
        let count = ready!(Pin::new(&mut *stream).poll_write(cx, part))?;
        part.advance(advanced(count)?);
    }
    Poll::Ready(Ok(()))
}

/// A stream that takes nothing will never take anything.
fn advanced(count: usize) -> io::Result<usize> {
    if count == 0 { Err(io::ErrorKind::WriteZero.into()) } else { Ok(count) }
}
