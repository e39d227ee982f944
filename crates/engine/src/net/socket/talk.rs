//! An open WebSocket: what the user says goes out, what comes is told, and neither waits for the other. Everything that
//! a service decides the size of has a bound.

use std::cell::Cell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Sink, Stream as _};
use model::metric::MetricId;
use model::unit::Moment;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::CapacityError;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message, error::ProtocolError};

use super::super::failure;
use super::super::wire::Stream;
use super::{Session, Tell};
use crate::clock::Clock;
use crate::ongoing::Credit;
use crate::user::{SocketEvent, SocketManner, SocketWord, Word};

/// Bytes that a message may have.
const MESSAGE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// How long the other side may take to close too.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long the last frame may take to leave.
const LAST_FRAME_TIMEOUT: Duration = Duration::from_secs(1);

/// Pings whose answer is waited for; of older ones it is not measured.
const PINGS_MAX: usize = 1000;

/// The end without a close (RFC 6455, section 7.4.1).
const ABNORMAL: u16 = 1006;
/// A close without a code.
const NO_STATUS: u16 = 1005;

/// How a socket ended.
pub(super) struct End {
    pub(super) code: u16,
    pub(super) reason: String,
    /// What went wrong, if anything did.
    pub(super) broke: Option<String>,
}

impl End {
    fn abnormal(why: &str) -> Self {
        let broke = Some(format!("websocket: close {ABNORMAL} (abnormal closure): {why}"));
        Self { code: ABNORMAL, reason: String::new(), broke }
    }
}

/// See the module.
pub(super) struct Talk {
    socket: WebSocketStream<Stream>,
    words: UnboundedReceiver<Word>,
    credit: Rc<Credit>,
    unsent: Rc<Cell<usize>>,
    /// Bytes of what is in the socket's buffer.
    buffered: usize,
    /// Whether something may be in there.
    dirty: bool,
    /// Once our close is on its way: until when its answer is waited for.
    closing: Option<Pin<Box<tokio::time::Sleep>>>,
    pings: VecDeque<(u64, Moment)>,
    pinged: u64,
    clock: Clock,
}

/// What happened next.
enum Turn {
    Said(Word),
    Came(Message),
    Flushed,
    Broke(Error),
    Ended,
    ClosedTooLate,
}

impl Talk {
    pub(super) async fn new(
        stream: Stream,
        early: Vec<u8>,
        words: UnboundedReceiver<Word>,
        credit: Rc<Credit>,
        unsent: Rc<Cell<usize>>,
        clock: Clock,
    ) -> Self {
        let config = WebSocketConfig::default()
            .read_buffer_size(8 * 1024)
            .max_message_size(Some(MESSAGE_BYTES_MAX))
            .max_frame_size(Some(MESSAGE_BYTES_MAX));
        let socket = WebSocketStream::from_partially_read(stream, early, Role::Client, Some(config)).await;
        let (pings, closing) = (VecDeque::new(), None);
        Self { socket, words, credit, unsent, buffered: 0, dirty: false, closing, pings, pinged: 0, clock }
    }

    /// Goes on until the socket is over.
    pub(super) async fn run(mut self, session: &Session<'_>, tell: Tell<'_>) -> End {
        loop {
            let end = match poll_fn(|cx| self.poll(cx)).await {
                Turn::Said(Word::Socket(word)) => self.say(word, session).await,
                Turn::Said(_) | Turn::Flushed => None,
                Turn::Came(message) => self.hear(message, session, tell).await,
                Turn::Broke(error) => Some(self.break_off(error).await),
                Turn::Ended if self.closing.is_some() => {
                    Some(End { code: ABNORMAL, reason: String::new(), broke: None })
                }
                Turn::Ended => Some(End::abnormal("unexpected EOF")),
                Turn::ClosedTooLate => Some(End::abnormal("the other side did not answer the close")),
            };
            if let Some(end) = end {
                return end;
            }
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Turn> {
        if self.dirty
            && let Poll::Ready(flushed) = self.poll_flush(cx)
        {
            return Poll::Ready(flushed.map_or_else(Turn::Broke, |()| Turn::Flushed));
        }
        if let Poll::Ready(Some(word)) = self.words.poll_recv(cx) {
            return Poll::Ready(Turn::Said(word));
        }
        if let Some(closing) = &mut self.closing
            && closing.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(Turn::ClosedTooLate);
        }
        if self.credit.poll_room(cx).is_pending() {
            return Poll::Pending;
        }
        match Pin::new(&mut self.socket).poll_next(cx) {
            Poll::Ready(Some(Ok(message))) => Poll::Ready(Turn::Came(message)),
            Poll::Ready(Some(Err(error))) => Poll::Ready(Turn::Broke(error)),
            Poll::Ready(None) => Poll::Ready(Turn::Ended),
            Poll::Pending => Poll::Pending,
        }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let flushed = Pin::new(&mut self.socket).poll_flush(cx);
        if flushed.is_ready() {
            self.dirty = false;
            let sent = std::mem::take(&mut self.buffered);
            self.unsent.set(self.unsent.get().saturating_sub(sent));
        }
        flushed
    }

    /// Does what the user says.
    async fn say(&mut self, word: SocketWord, session: &Session<'_>) -> Option<End> {
        if self.closing.is_some() {
            return None;
        }
        let is_message = matches!(word, SocketWord::Text(_) | SocketWord::Binary(_));
        let (message, close) = match word {
            SocketWord::Text(text) => (self.message(text.len(), Message::text(text)), None),
            SocketWord::Binary(bytes) => (self.message(bytes.len(), Message::Binary(bytes)), None),
            SocketWord::Ping => (self.ping(), None),
            SocketWord::Close { code, reason } => (close_of(code, &reason), Some((code, reason))),
        };
        if is_message || session.manner == SocketManner::Standard {
            session.add(MetricId::WS_MSGS_SENT, 1.0);
        }
        if let Err(error) = self.queue(message) {
            return Some(self.break_off(error).await);
        }
        let (code, reason) = close?;
        if session.manner == SocketManner::Blocking {
            self.flush_at_last().await;
            return Some(End { code, reason, broke: None });
        }
        self.closing = Some(Box::pin(tokio::time::sleep(CLOSE_TIMEOUT)));
        None
    }

    fn message(&mut self, bytes: usize, message: Message) -> Message {
        self.buffered += bytes;
        message
    }

    fn ping(&mut self) -> Message {
        self.pinged += 1;
        if self.pings.len() >= PINGS_MAX {
            self.pings.pop_front();
        }
        self.pings.push_back((self.pinged, self.clock.now()));
        Message::Ping(self.pinged.to_string().into())
    }

    fn queue(&mut self, message: Message) -> Result<(), Error> {
        self.dirty = true;
        Pin::new(&mut self.socket).start_send(message)
    }

    /// Tells what came.
    async fn hear(&mut self, message: Message, session: &Session<'_>, tell: Tell<'_>) -> Option<End> {
        let (event, bytes) = match message {
            Message::Text(text) => (SocketEvent::Text(text.as_str().to_owned()), text.len()),
            Message::Binary(bytes) => (SocketEvent::Binary(bytes.clone()), bytes.len()),
            Message::Ping(_) => {
                // Its answer is in the buffer.
                self.dirty = true;
                (SocketEvent::Ping, 0)
            }
            Message::Pong(payload) => {
                self.measure(&payload, session);
                (SocketEvent::Pong, 0)
            }
            Message::Close(frame) => return Some(self.close_too(frame).await),
            Message::Frame(_) => return None,
        };
        if matches!(event, SocketEvent::Text(_) | SocketEvent::Binary(_)) {
            session.add(MetricId::WS_MSGS_RECEIVED, 1.0);
        }
        tell(event, Some(self.credit.lend(bytes)));
        None
    }

    fn measure(&mut self, payload: &Bytes, session: &Session<'_>) {
        let number = std::str::from_utf8(payload).ok().and_then(|text| text.parse::<u64>().ok());
        let Some(at) = number.and_then(|number| self.pings.iter().position(|(known, _)| *known == number)) else {
            return;
        };
        if let Some((_, sent)) = self.pings.remove(at) {
            session.add_duration(MetricId::WS_PING, sent, self.clock.now());
        }
    }

    /// The other side closes: it hears our close, unless that is what it answers.
    async fn close_too(&mut self, frame: Option<CloseFrame>) -> End {
        if self.closing.is_none() {
            self.flush_at_last().await;
        }
        let (code, reason) = match frame {
            Some(frame) => (u16::from(frame.code), frame.reason.as_str().to_owned()),
            None => (NO_STATUS, String::new()),
        };
        // As in k6, everything but a normal end and a service that goes away is an error too.
        let is_error = self.closing.is_none() && !matches!(code, 1000 | 1001);
        let broke = is_error.then(|| match (code, reason.as_str()) {
            (NO_STATUS, _) => "websocket: close 1005 (no status)".to_owned(),
            (code, "") => format!("websocket: close {code}"),
            (code, reason) => format!("websocket: close {code}: {reason}"),
        });
        End { code, reason, broke }
    }

    /// Ends what is broken; the other side is told if it is to blame.
    async fn break_off(&mut self, error: Error) -> End {
        let (code, why) = match &error {
            Error::Io(error) => return End::abnormal(&failure::transport(error).text),
            Error::ConnectionClosed
            | Error::AlreadyClosed
            | Error::Protocol(ProtocolError::ResetWithoutClosingHandshake | ProtocolError::SendAfterClosing) => {
                return End::abnormal("unexpected EOF");
            }
            Error::Capacity(CapacityError::MessageTooLong { size, max_size }) => {
                (CloseCode::Size, format!("a message of {size} bytes came, at most {max_size} are taken"))
            }
            Error::Utf8(_) => (CloseCode::Invalid, "a text came that is not UTF-8".to_owned()),
            other => (CloseCode::Protocol, other.to_string()),
        };
        let frame = CloseFrame { code, reason: "".into() };
        if self.queue(Message::Close(Some(frame))).is_ok() {
            self.flush_at_last().await;
        }
        End { code: ABNORMAL, reason: String::new(), broke: Some(format!("websocket: {why}")) }
    }

    async fn flush_at_last(&mut self) {
        // Whoever does not take the last frame does without.
        let _ = tokio::time::timeout(LAST_FRAME_TIMEOUT, poll_fn(|cx| self.poll_flush(cx))).await;
    }
}

fn close_of(code: u16, reason: &str) -> Message {
    Message::Close(Some(CloseFrame { code: CloseCode::from(code), reason: reason.into() }))
}
