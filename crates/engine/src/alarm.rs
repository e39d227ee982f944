//! How a user waits: for something to happen, until a moment at the latest, and never behind the moment at which its
//! scenario cuts it off. One timer per user serves all of this, and a deadline that is met costs no timer operation.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use model::unit::Moment;
use tokio::time::Sleep;

use crate::clock::Clock;

/// Never.
pub(crate) const NEVER: Moment = Moment(u64::MAX);

/// Ties a user to its scenario: until when a running iteration may go on, whether a new one may begin, and since when
/// the user waits for an answer.
#[derive(Debug)]
pub(crate) struct Leash {
    cut_at: Cell<Moment>,
    graceful: Cell<Duration>,
    halted: Cell<bool>,
    asked_at: Cell<Moment>,
    waker: RefCell<Option<Waker>>,
}

impl Default for Leash {
    fn default() -> Self {
        Self {
            cut_at: Cell::new(NEVER),
            graceful: Cell::new(Duration::ZERO),
            halted: Cell::new(false),
            asked_at: Cell::new(NEVER),
            waker: RefCell::new(None),
        }
    }
}

impl Leash {
    /// How long an iteration may go on behind a graceful stop.
    pub(crate) fn set_graceful(&self, graceful: Duration) {
        self.graceful.set(graceful);
    }

    /// The moment at which a running iteration is cut off. Has no effect once the run is being stopped.
    pub(crate) fn set_cut(&self, cut_at: Moment) {
        if !self.halted.get() {
            self.cut_at.set(cut_at);
        }
    }

    /// No new iteration; a running one may go on for the graceful time.
    pub(crate) fn halt(&self, now: Moment) {
        self.halted.set(true);
        self.cut_at.set(self.cut_at.get().min(now + self.graceful.get()));
        self.wake();
    }

    /// Ends everything now.
    pub(crate) fn cut(&self) {
        self.halted.set(true);
        self.cut_at.set(Moment::START);
        self.wake();
    }

    /// Forgets an earlier stop: behind the load comes the teardown.
    pub(crate) fn release(&self) {
        self.halted.set(false);
        self.cut_at.set(NEVER);
    }

    /// Whether no new iteration may begin.
    pub(crate) fn halted(&self) -> bool {
        self.halted.get()
    }

    /// A request is sent; of several at once the last one counts.
    pub(crate) fn asks(&self, now: Moment) {
        self.asked_at.set(now);
    }

    /// Its user goes on, whatever it had asked for.
    pub(crate) fn goes_on(&self) {
        self.asked_at.set(NEVER);
    }

    /// Since when its user waits for an answer; never if it waits for none.
    pub(crate) fn waits_since(&self) -> Moment {
        self.asked_at.get()
    }

    /// Lets its user look again at what has changed.
    pub(crate) fn wake(&self) {
        if let Some(waker) = &*self.waker.borrow() {
            waker.wake_by_ref();
        }
    }

    fn attend(&self, waker: &Waker) {
        let mut stored = self.waker.borrow_mut();
        if !stored.as_ref().is_some_and(|known| known.will_wake(waker)) {
            *stored = Some(waker.clone());
        }
    }
}

/// Why a wait ended before its purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Elapsed {
    /// The deadline passed.
    Deadline,
    /// The scenario cut it off.
    Cut,
}

/// A timer that is only ever moved when it must ring earlier than it already will. It may ring too early and is then
/// wound up again, which for deadlines that are nearly always met is rare.
#[derive(Debug)]
pub(crate) struct Alarm {
    clock: Clock,
    waited: bool,
    set: Option<(Moment, Pin<Box<Sleep>>)>,
}

impl Alarm {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { clock, waited: false, set: None }
    }

    /// Whether anything had to be waited for since the last call. What never waits must yield now and then.
    pub(crate) fn take_waited(&mut self) -> bool {
        std::mem::take(&mut self.waited)
    }

    fn poll(&mut self, until: Moment, cx: &mut Context<'_>) -> Poll<()> {
        if until == NEVER {
            return Poll::Pending;
        }
        let (at, sleep) =
            self.set.get_or_insert_with(|| (until, Box::pin(tokio::time::sleep_until(self.clock.instant(until)))));
        if *at > until {
            *at = until;
            sleep.as_mut().reset(self.clock.instant(until));
        }
        while sleep.as_mut().poll(cx).is_ready() {
            if self.clock.now() >= until {
                return Poll::Ready(());
            }
            *at = until;
            sleep.as_mut().reset(self.clock.instant(until));
        }
        Poll::Pending
    }

    /// Waits for `future`, until `deadline` at the latest, on this leash.
    pub(crate) async fn wait<T>(
        &mut self,
        future: impl Future<Output = T>,
        deadline: Moment,
        leash: &Leash,
    ) -> Result<T, Elapsed> {
        let mut future = pin!(future);
        poll_fn(|cx| {
            leash.attend(cx.waker());
            let cut_at = leash.cut_at.get();
            if cut_at == Moment::START {
                return Poll::Ready(Err(Elapsed::Cut));
            }
            if let Poll::Ready(value) = future.as_mut().poll(cx) {
                return Poll::Ready(Ok(value));
            }
            self.waited = true;
            let elapsed = if cut_at <= deadline { Elapsed::Cut } else { Elapsed::Deadline };
            self.poll(cut_at.min(deadline), cx).map(|()| Err(elapsed))
        })
        .await
    }

    /// Sleeps within an iteration.
    pub(crate) async fn sleep_until(&mut self, moment: Moment, leash: &Leash) -> Elapsed {
        match self.wait(std::future::pending::<()>(), moment, leash).await {
            Ok(()) => Elapsed::Deadline,
            Err(elapsed) => elapsed,
        }
    }

    /// Rests between iterations: until `moment`, a halt, or `changed` at the latest.
    pub(crate) async fn rest_until(&mut self, moment: Moment, leash: &Leash, changed: impl Fn() -> bool) {
        if self.clock.now() >= moment {
            return;
        }
        poll_fn(|cx| {
            leash.attend(cx.waker());
            if leash.halted() || changed() {
                return Poll::Ready(());
            }
            self.poll(moment, cx)
        })
        .await;
    }
}
