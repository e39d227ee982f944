//! What a user can begin without waiting for it: each such thing has a ticket, goes on beside the user, tells what
//! happens to it, and can be spoken to. Whatever still goes on when the iteration ends is ended with it.
//!
//! A new kind of work is a variant of [`Work`], what it tells a variant of [`Event`], what can be said to it a variant
//! of [`Word`], and one arm where the engine begins it (`ongoing.rs`).

use std::time::Duration;

use bytes::Bytes;

use super::{
    GrpcCall, GrpcReply, GrpcStatus, GrpcStream, Metadata, Request, Response, SocketEvent, SocketRequest, SocketWord,
};

/// Names something that a user has begun. The user chooses it, and may use it again once that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u32);

/// Something to begin.
#[derive(Debug)]
pub enum Work {
    /// Wait this long, then tell [`Event::Rang`]. Of two that ring at one moment, the one begun first is told first.
    Timer(Duration),
    /// Send this request on a connection of its own, then tell [`Event::Response`].
    Http(Box<Request>),
    /// Make this call, then tell [`Event::GrpcReply`].
    GrpcCall(Box<GrpcCall>),
    /// Open this stream; it takes [`Word::GrpcSend`] and [`Word::GrpcFinish`], and tells [`Event::GrpcMessage`] for
    /// each message and [`Event::GrpcEnded`] at the end.
    GrpcStream(Box<GrpcStream>),
    /// Open this WebSocket; it takes [`Word::Socket`] and tells [`Event::Socket`].
    Socket(Box<SocketRequest>),
}

/// What happened to something that was begun.
#[derive(Debug)]
pub enum Event {
    /// The time of a timer is up; it is over.
    Rang,
    /// The response to a request, which is over.
    Response(Box<Response>),
    /// What came of a gRPC call, which is over.
    GrpcReply(Box<GrpcReply>),
    /// A message of a gRPC stream.
    GrpcMessage(Bytes),
    /// A gRPC stream is over: its status and its trailers.
    GrpcEnded(Box<(GrpcStatus, Metadata)>),
    /// Something happened to a WebSocket.
    Socket(SocketEvent),
}

impl Event {
    /// Whether nothing more will be told of what it happened to.
    pub fn is_last(&self) -> bool {
        match self {
            Self::Rang | Self::Response(_) | Self::GrpcReply(_) | Self::GrpcEnded(_) => true,
            Self::Socket(event) => matches!(event, SocketEvent::Refused(..) | SocketEvent::Closed { .. }),
            Self::GrpcMessage(_) => false,
        }
    }
}

/// What a user says to something that goes on. What is over already hears nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// End it: nothing more is told of it, not even what has happened already.
    Cancel,
    /// Send this message on a gRPC stream.
    GrpcSend(Bytes),
    /// Nothing more will be sent on a gRPC stream.
    GrpcFinish,
    /// Say this to a WebSocket.
    Socket(SocketWord),
}
