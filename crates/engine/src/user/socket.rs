//! WebSockets as a user asks for them and hears of them.

use std::cell::Cell;
use std::rc::Rc;

use bytes::Bytes;
use http::HeaderMap;

use super::{Headers, SharedJar};
use crate::meter::TagSet;

/// A WebSocket to open.
#[derive(Clone, Debug)]
pub struct SocketRequest {
    /// `ws://…` or `wss://…`.
    pub url: String,
    /// Headers of the script for the handshake.
    pub headers: HeaderMap,
    /// Whose cookies are sent and kept; `None` is the client's own jar.
    pub jar: Option<SharedJar>,
    /// Subprotocols, the best first.
    pub protocols: Vec<String>,
    /// Value of the `name` tag, if the script gives one.
    pub name: Option<Rc<str>>,
    /// Tags of its samples; the engine adds status, url and subproto.
    pub tags: TagSet,
    /// Which of k6's two ways it follows.
    pub manner: SocketManner,
    /// Bytes of messages that the user has said and that are not on their way yet: the user adds, the engine takes.
    pub unsent: Rc<Cell<usize>>,
}

/// k6 has two kinds of sockets, which end and count differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketManner {
    /// `k6/ws`: over as soon as its close is sent; pings and closes are no messages, samples have no `name` of their
    /// own, and a session that did not come about has a duration.
    Blocking,
    /// `k6/websockets`: over when the other side has closed too; pings and closes count as messages.
    Standard,
}

/// The answer to a handshake.
#[derive(Clone, Debug, Default)]
pub struct SocketAnswer {
    /// Status; 0 if there was no answer.
    pub status: u16,
    /// Headers.
    pub headers: Headers,
    /// Body of a refusal.
    pub body: Bytes,
    /// The subprotocol that was agreed on; empty if none.
    pub protocol: String,
}

/// What happens to a socket. The last is [`SocketEvent::Refused`] or [`SocketEvent::Closed`].
#[derive(Debug)]
pub enum SocketEvent {
    /// It is open.
    Opened(Box<SocketAnswer>),
    /// It did not open, and why.
    Refused(Box<SocketAnswer>, String),
    /// A text came.
    Text(String),
    /// Bytes came.
    Binary(Bytes),
    /// A ping came, which the engine answers.
    Ping,
    /// A pong came.
    Pong,
    /// It broke, and why.
    Failed(String),
    /// It is over.
    Closed {
        /// The code of the close, or one of those that are never sent: 1005 for none, 1006 for an end without close.
        code: u16,
        /// What the other side said.
        reason: String,
    },
}

/// What a user says to a socket. Behind a close nothing is heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SocketWord {
    /// Send a text.
    Text(String),
    /// Send bytes.
    Binary(Bytes),
    /// Send a ping.
    Ping,
    /// Close.
    Close {
        /// The code to send.
        code: u16,
        /// What to say, at most 123 bytes.
        reason: String,
    },
}
