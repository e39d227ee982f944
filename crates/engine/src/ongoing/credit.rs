//! How much of what came may wait for its user: whoever reads for a user that does not listen stops reading, so that
//! the service is slowed down as by any client that does not read, and memory stays bounded.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// The credit of one thing that goes on.
#[derive(Debug, Default)]
pub(crate) struct Credit {
    used: Cell<usize>,
    waker: RefCell<Option<Waker>>,
}

/// A part of a credit, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Loan {
    credit: Rc<Credit>,
    bytes: usize,
}

impl Credit {
    /// Bytes that may wait. One more message is always let in, whatever its size.
    pub(crate) const BYTES_MAX: usize = 1024 * 1024;

    /// What a message takes beside its bytes.
    const MESSAGE_BYTES: usize = 256;

    /// Lends for a message of so many bytes.
    pub(crate) fn lend(self: &Rc<Self>, bytes: usize) -> Loan {
        let bytes = bytes + Self::MESSAGE_BYTES;
        self.used.set(self.used.get() + bytes);
        Loan { credit: self.clone(), bytes }
    }

    /// Ready once there is room for one more message.
    pub(crate) fn poll_room(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.used.get() < Self::BYTES_MAX {
            return Poll::Ready(());
        }
        self.waker.replace(Some(cx.waker().clone()));
        Poll::Pending
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        self.credit.used.set(self.credit.used.get() - self.bytes);
        if let Some(waker) = self.credit.waker.take() {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_taken_makes_room_again() {
        let credit = Rc::new(Credit::default());
        let cx = &mut Context::from_waker(Waker::noop());
        let (small, large) = (credit.lend(1), credit.lend(Credit::BYTES_MAX));
        assert!(credit.poll_room(cx).is_pending());
        drop(small);
        assert!(credit.poll_room(cx).is_pending());
        drop(large);
        assert!(credit.poll_room(cx).is_ready());
        assert_eq!(credit.used.get(), 0);
    }
}
