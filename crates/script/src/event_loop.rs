//! The event loop of one user. What a script begins without waiting (a timer, a request) leaves a handler here under
//! its ticket; between two events promise jobs run to their end; an iteration is over when nothing is pending. Never
//! waits by itself: it asks the engine for the next event.
//!
//! A new kind of work needs nothing here: it calls [`begin`] with a handler, or [`promise`] if one event settles it.
//! A call that blocks its user until something that it has begun has come to its end calls [`turn_for`] in a loop:
//! events of anything else wait meanwhile.

mod early;

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use engine::user::{Answer, Ask, Event, Ticket, Word, Work};
use rquickjs::{Ctx, Exception, Function, Persistent, Promise, Result, Value};

use crate::host::{Phase, Seat};
use crate::native::{self, HeldBytes};
use early::Early;

/// About what a pending timer takes outside of the script's own memory.
const TIMER_BYTES: usize = 256;
/// The same of a request that goes on, its task and buffers included.
const WORK_BYTES: usize = 16 * 1024;

/// What becomes of a handler behind an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// It will be called no more.
    Ends,
    /// It waits for the next event.
    GoesOn,
}

/// Called for each event of one thing that was begun.
pub(crate) type Handler = Box<dyn for<'js> FnMut(&Ctx<'js>, Event) -> Result<Flow>>;

/// What is pending of one user.
#[derive(Default)]
pub(crate) struct EventLoop {
    tickets: Cell<u32>,
    pending: RefCell<HashMap<Ticket, Pending>>,
    /// Events that came while the user waited for another one.
    stash: RefCell<VecDeque<(Ticket, Event)>>,
    /// Timers of the init code.
    early: RefCell<Early>,
}

struct Pending {
    /// `None` while it runs.
    handler: Option<Handler>,
    is_timer: bool,
    /// What the engine needs for it.
    _held: HeldBytes,
    /// What it belongs to and ends with: a timer of a socket.
    owner: Option<Ticket>,
}

impl EventLoop {
    /// A ticket that is not in use.
    pub(crate) fn ticket(&self) -> Ticket {
        loop {
            self.tickets.set(self.tickets.get().wrapping_add(1));
            let ticket = Ticket(self.tickets.get());
            if ticket.0 != 0 && !self.pending.borrow().contains_key(&ticket) {
                return ticket;
            }
        }
    }

    /// Whether nothing is pending.
    pub(crate) fn is_idle(&self) -> bool {
        self.pending.borrow().is_empty()
    }

    /// Whether this is still pending.
    pub(crate) fn is_pending(&self, ticket: Ticket) -> bool {
        self.pending.borrow().contains_key(&ticket)
    }

    /// Whether a timer of this ticket is pending.
    pub(crate) fn is_timer(&self, ticket: Ticket) -> bool {
        self.pending.borrow().get(&ticket).is_some_and(|pending| pending.is_timer)
    }

    /// Makes one thing a part of another.
    pub(crate) fn adopt(&self, ticket: Ticket, owner: Ticket) {
        if let Some(pending) = self.pending.borrow_mut().get_mut(&ticket) {
            pending.owner = Some(owner);
        }
    }

    /// Whether it is `owner` or a part of it.
    fn belongs_to(&self, ticket: Ticket, owner: Ticket) -> bool {
        let is_part = |pending: &Pending| pending.owner == Some(owner);
        ticket == owner || self.pending.borrow().get(&ticket).is_some_and(is_part)
    }

    /// Forgets everything: the iteration is over.
    pub(crate) fn clear(&self) {
        if self.tickets.get() == 0 {
            return;
        }
        self.tickets.set(0);
        // Whatever a handler gives back may look in here.
        let pending = self.pending.take();
        drop(pending);
        self.stash.take();
        self.early.take();
    }
}

/// Begins `work`; `handler` is called for each of its events. As in k6 that is outside of groups: what is to have the
/// group and the tags of the beginning takes them along.
///
/// # Errors
/// If the user is cancelled, or cannot wait where it is.
pub(crate) fn begin(ctx: &Ctx<'_>, seat: &Seat, ticket: Ticket, work: Work, handler: Handler) -> Result<()> {
    let is_timer = matches!(work, Work::Timer(_));
    start(ctx, seat, ticket, work)?;
    let held = HeldBytes::new(if is_timer { TIMER_BYTES } else { WORK_BYTES });
    seat.events
        .pending
        .borrow_mut()
        .insert(ticket, Pending { handler: Some(handler), is_timer, _held: held, owner: None });
    Ok(())
}

/// Begins `work` whose handler is there already: an interval.
///
/// # Errors
/// As [`begin`].
pub(crate) fn start(ctx: &Ctx<'_>, seat: &Seat, ticket: Ticket, work: Work) -> Result<()> {
    match (seat.phase.get(), work) {
        (Phase::Init, Work::Timer(length)) => {
            seat.events.early.borrow_mut().set(ticket, length);
            Ok(())
        }
        (_, work) => native::ask(ctx, Ask::Start(ticket, work)).map(drop),
    }
}

/// Says something to what goes on.
///
/// # Errors
/// As [`begin`].
pub(crate) fn tell(ctx: &Ctx<'_>, ticket: Ticket, word: Word) -> Result<()> {
    native::ask(ctx, Ask::Tell(ticket, word)).map(drop)
}

/// Ends what goes on; its handler is not called any more.
///
/// # Errors
/// As [`begin`].
pub(crate) fn cancel(ctx: &Ctx<'_>, seat: &Seat, ticket: Ticket) -> Result<()> {
    let Some(gone) = seat.events.pending.borrow_mut().remove(&ticket) else { return Ok(()) };
    drop(gone);
    match seat.phase.get() {
        Phase::Init => {
            seat.events.early.borrow_mut().cancel(ticket);
            Ok(())
        }
        Phase::Iteration => tell(ctx, ticket, Word::Cancel),
    }
}

/// Ends what goes on with all its parts.
///
/// # Errors
/// As [`begin`].
pub(crate) fn cancel_all(ctx: &Ctx<'_>, seat: &Seat, owner: Ticket) -> Result<()> {
    let pending = seat.events.pending.borrow();
    let parts = pending.iter().filter(|(_, pending)| pending.owner == Some(owner)).map(|(ticket, _)| *ticket);
    let all: Vec<_> = parts.chain([owner]).collect();
    drop(pending);
    all.into_iter().try_for_each(|ticket| cancel(ctx, seat, ticket))
}

/// Begins `work` and returns the promise that its one event settles: with what `outcome` makes of it, or with what
/// `outcome` throws.
///
/// # Errors
/// As [`begin`].
pub(crate) fn promise<'js>(
    ctx: &Ctx<'js>,
    seat: &Seat,
    work: Work,
    outcome: impl for<'of> FnOnce(&Ctx<'of>, Event) -> Result<Value<'of>> + 'static,
) -> Result<Promise<'js>> {
    let (promise, resolve, reject) = ctx.promise()?;
    let (resolve, reject) = (Persistent::save(ctx, resolve), Persistent::save(ctx, reject));
    let mut once = Some((outcome, resolve, reject));
    let handler = move |ctx: &Ctx<'_>, event: Event| {
        let Some((outcome, resolve, reject)) = once.take() else { return Ok(Flow::Ends) };
        let (resolve, reject) = (resolve.restore(ctx)?, reject.restore(ctx)?);
        let outcome = outcome(ctx, event);
        conclude(ctx, outcome, &resolve, &reject)?;
        Ok(Flow::Ends)
    };
    begin(ctx, seat, seat.events.ticket(), work, Box::new(handler))?;
    Ok(promise)
}

/// Settles a promise with a value or with what was thrown. What no script may catch goes on.
///
/// # Errors
/// Whatever ends the iteration from outside.
pub(crate) fn conclude<'js>(
    ctx: &Ctx<'js>,
    outcome: Result<Value<'js>>,
    resolve: &Function<'js>,
    reject: &Function<'js>,
) -> Result<()> {
    match outcome {
        Ok(value) => resolve.call((value,)),
        Err(rquickjs::Error::Exception) => {
            let thrown = ctx.catch();
            if thrown.is_uncatchable_error() { Err(ctx.throw(thrown)) } else { reject.call((thrown,)) }
        }
        Err(other) => Err(other),
    }
}

/// Runs promise jobs until there are none, or the iteration is ended from outside.
pub(crate) fn run_jobs(ctx: &Ctx<'_>, seat: &Seat) {
    while !seat.is_over() && ctx.execute_pending_job() {}
}

/// Waits for the next event of anything that is pending, and lets its handler run.
///
/// # Errors
/// What the handler throws; whatever ends the iteration from outside.
pub(crate) fn turn(ctx: &Ctx<'_>, seat: &Seat) -> Result<()> {
    let stashed = seat.events.stash.borrow_mut().pop_front();
    let (ticket, event) = match stashed {
        Some(stashed) => stashed,
        None => next(ctx)?,
    };
    dispatch(ctx, seat, ticket, event)
}

/// Waits for the next event of `owner` or of a part of it, and lets its handler run; keeps what comes for others. No
/// promise job runs, since the script stands in the middle of a call.
///
/// # Errors
/// As [`turn`].
pub(crate) fn turn_for(ctx: &Ctx<'_>, seat: &Seat, owner: Ticket) -> Result<()> {
    let is_own = |ticket| seat.events.belongs_to(ticket, owner);
    let stashed = seat.events.stash.borrow().iter().position(|(ticket, _)| is_own(*ticket));
    let stashed = stashed.and_then(|at| seat.events.stash.borrow_mut().remove(at));
    if let Some((ticket, event)) = stashed {
        return dispatch(ctx, seat, ticket, event);
    }
    loop {
        let (ticket, event) = next(ctx)?;
        if is_own(ticket) {
            return dispatch(ctx, seat, ticket, event);
        }
        seat.events.stash.borrow_mut().push_back((ticket, event));
    }
}

fn next(ctx: &Ctx<'_>) -> Result<(Ticket, Event)> {
    match native::ask(ctx, Ask::Next)? {
        Answer::Event(ticket, event) => Ok((ticket, event)),
        _ => Err(Exception::throw_internal(ctx, "the engine told of no event where one was due")),
    }
}

fn dispatch(ctx: &Ctx<'_>, seat: &Seat, ticket: Ticket, event: Event) -> Result<()> {
    let taken = seat.events.pending.borrow_mut().get_mut(&ticket).and_then(|pending| pending.handler.take());
    // What was cancelled has none; what runs already cannot run twice.
    let Some(mut handler) = taken else { return Ok(()) };
    let flow = handler(ctx, event)?;
    seat.events.settle(ticket, handler, flow);
    Ok(())
}

impl EventLoop {
    fn settle(&self, ticket: Ticket, handler: Handler, flow: Flow) {
        let mut pending = self.pending.borrow_mut();
        let ended = match (flow, pending.get_mut(&ticket)) {
            (Flow::GoesOn, Some(waiting)) => {
                waiting.handler = Some(handler);
                None
            }
            (Flow::Ends, _) => pending.remove(&ticket),
            (Flow::GoesOn, None) => None,
        };
        drop(pending);
        drop(ended);
    }
}

/// Runs promise jobs and timers of the init code until nothing is pending. Nobody waits there: a timer rings as soon
/// as those before it have rung.
///
/// # Errors
/// What a timer throws; a sentence if they ring without end.
pub(crate) fn run_early(ctx: &Ctx<'_>, seat: &Seat) -> Result<()> {
    let mut rung = 0;
    loop {
        run_jobs(ctx, seat);
        let rings = seat.events.early.borrow_mut().take();
        let Some(ticket) = rings.filter(|_| !seat.is_over()) else { return Ok(()) };
        rung += 1;
        if rung > Early::RINGS_MAX {
            let hint = "is there a setInterval() that nothing clears?";
            let message = format!("timers of the init code rang {} times and go on: {hint}", Early::RINGS_MAX);
            return Err(Exception::throw_message(ctx, &message));
        }
        dispatch(ctx, seat, ticket, Event::Rang)?;
    }
}

/// Longest wait, so that whoever adds it to a moment gets a moment: a hundred years.
const WAIT_MAX_S: f64 = 100.0 * 365.0 * 86_400.0;

/// A wait of so many seconds. What is no duration (negative, NaN) is none; what is too long is a hundred years.
pub(crate) fn wait_of(seconds: f64) -> Duration {
    Duration::from_secs_f64(if seconds > 0.0 { seconds.min(WAIT_MAX_S) } else { 0.0 })
}
