//! A TCP or TLS connection as the HTTP machinery sees it, noting when bytes pass and counting them. The one module of
//! this room with `unsafe`: hyper lends its read buffer uninitialised.
#![expect(unsafe_code, reason = "hyper's read buffer can only be filled without a copy through unsafe calls")]

use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use model::unit::Moment;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use crate::clock::Clock;
use crate::tally::Tally;

/// Bytes that a user's connections have carried since the last look.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    sent: Cell<u64>,
    received: Cell<u64>,
}

impl Traffic {
    /// Takes what was sent and received.
    pub(crate) fn take(&self) -> (u64, u64) {
        (self.sent.take(), self.received.take())
    }
}

/// When the bytes of one request passed.
#[derive(Debug)]
pub(crate) struct Marks {
    clock: Clock,
    wrote: Cell<Option<Moment>>,
    first_read: Cell<Option<Moment>>,
}

impl Marks {
    pub(crate) fn new(clock: Clock) -> Rc<Self> {
        Rc::new(Self { clock, wrote: Cell::new(None), first_read: Cell::new(None) })
    }

    pub(crate) fn clock(&self) -> Clock {
        self.clock
    }

    /// A new request begins.
    pub(crate) fn reset(&self) {
        self.wrote.set(None);
        self.first_read.set(None);
    }

    /// When the last byte of the request was written, so far.
    pub(crate) fn wrote(&self) -> Option<Moment> {
        self.wrote.get()
    }

    /// When the first byte of the answer was read.
    pub(crate) fn first_read(&self) -> Option<Moment> {
        self.first_read.get()
    }
}

/// A TCP connection that counts its bytes and itself.
pub(crate) struct Counted {
    stream: TcpStream,
    traffic: Rc<Traffic>,
    tally: Rc<Tally>,
}

impl Counted {
    pub(crate) fn new(stream: TcpStream, traffic: Rc<Traffic>, tally: Rc<Tally>) -> Self {
        tally.connection_opens();
        Self { stream, traffic, tally }
    }

    fn sent(&self, written: &Poll<io::Result<usize>>) {
        if let Poll::Ready(Ok(bytes)) = written {
            self.traffic.sent.set(self.traffic.sent.get() + *bytes as u64);
            self.tally.bytes_sent(*bytes as u64);
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.tally.connection_closes();
    }
}

impl AsyncRead for Counted {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buf);
        let bytes = (buf.filled().len() - before) as u64;
        self.traffic.received.set(self.traffic.received.get() + bytes);
        self.tally.bytes_received(bytes);
        polled
    }
}

impl AsyncWrite for Counted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.sent(&written);
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.sent(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// What HTTP is spoken over.
pub(crate) enum Stream {
    /// TCP.
    Plain(Counted),
    /// TLS over TCP.
    Tls(Box<TlsStream<Counted>>),
}

/// The connection for hyper.
pub(crate) struct Wire {
    stream: Stream,
    marks: Rc<Marks>,
}

impl Wire {
    pub(crate) fn new(stream: Stream, marks: Rc<Marks>) -> Self {
        Self { stream, marks }
    }

    fn note_write(&self, written: &Poll<io::Result<usize>>) {
        if matches!(written, Poll::Ready(Ok(_))) {
            self.marks.wrote.set(Some(self.marks.clock.now()));
        }
    }
}

impl hyper::rt::Read for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut cursor: hyper::rt::ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        // SAFETY: `ReadBuf` only ever initialises what it is lent, as the cursor demands.
        let mut buf = ReadBuf::uninit(unsafe { cursor.as_mut() });
        let polled = match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_read(cx, &mut buf),
            Stream::Tls(stream) => Pin::new(stream.as_mut()).poll_read(cx, &mut buf),
        };
        let bytes = buf.filled().len();
        if bytes > 0 && self.marks.first_read.get().is_none() {
            self.marks.first_read.set(Some(self.marks.clock.now()));
        }
        // SAFETY: `ReadBuf` counts as filled only what was initialised.
        unsafe { cursor.advance(bytes) };
        polled
    }
}

impl hyper::rt::Write for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Stream::Tls(stream) => Pin::new(stream.as_mut()).poll_write(cx, bytes),
        };
        self.note_write(&written);
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
            Stream::Tls(stream) => Pin::new(stream.as_mut()).poll_write_vectored(cx, slices),
        };
        self.note_write(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        match &self.stream {
            Stream::Plain(stream) => stream.is_write_vectored(),
            Stream::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Stream::Tls(stream) => Pin::new(stream.as_mut()).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Tls(stream) => Pin::new(stream.as_mut()).poll_shutdown(cx),
        }
    }
}
