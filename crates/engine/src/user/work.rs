//! What a user can begin without waiting for it: each such thing has a ticket, goes on beside the user, tells what
//! happens to it, and can be spoken to. Whatever still goes on when the iteration ends is ended with it.
//!
//! A new kind of work is a variant of [`Work`], what it tells a variant of [`Event`], what can be said to it a variant
//! of [`Word`], and one arm where the engine begins it (`ongoing.rs`).

use std::time::Duration;

use super::{Request, Response};

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
}

/// What happened to something that was begun.
#[derive(Debug)]
pub enum Event {
    /// The time of a timer is up; it is over.
    Rang,
    /// The response to a request, which is over.
    Response(Box<Response>),
}

impl Event {
    /// Whether nothing more will be told of what it happened to.
    pub fn is_last(&self) -> bool {
        match self {
            Self::Rang | Self::Response(_) => true,
        }
    }
}

/// What a user says to something that goes on. What is over already hears nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// End it: nothing more is told of it, not even what has happened already.
    Cancel,
}
