//! What one user has begun and not waited for: timers, requests. Each goes on by itself on the user's thread, and what
//! happens to it waits here, in its order, until the user asks. All of it ends when this is dropped.

mod credit;
#[cfg(test)]
mod tests;
mod timers;

use std::collections::HashMap;
use std::rc::Rc;

use model::unit::Moment;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::JoinHandle;

use crate::alarm::{Alarm, Elapsed, Leash, NEVER};
use crate::net::Client;
use crate::tally::Tally;
use crate::user::{Event, Ticket, Word, Work};
use timers::Timers;

pub(crate) use credit::{Credit, Loan};

/// See the module.
pub(crate) struct Ongoing {
    client: Rc<Client>,
    tally: Rc<Tally>,
    timers: Timers,
    tasks: HashMap<Ticket, Task>,
    outbox: UnboundedSender<Told>,
    inbox: UnboundedReceiver<Told>,
    /// The first of the inbox, once it was looked at.
    first: Option<Told>,
}

/// An event on its way to the user.
struct Told {
    at: Moment,
    ticket: Ticket,
    event: Event,
    /// What it takes of the credit of what it happened to.
    _loan: Option<Loan>,
}

/// Something that goes on by itself; ends when it is dropped.
struct Task {
    handle: JoinHandle<()>,
    /// To what can be spoken to.
    words: Option<UnboundedSender<Word>>,
}

impl Drop for Task {
    fn drop(&mut self) {
        self.handle.abort();
    }
}

impl Ongoing {
    pub(crate) fn new(client: Rc<Client>, tally: Rc<Tally>) -> Box<Self> {
        let (outbox, inbox) = mpsc::unbounded_channel();
        let (timers, tasks) = (Timers::default(), HashMap::new());
        Box::new(Self { client, tally, timers, tasks, outbox, inbox, first: None })
    }

    /// Begins something.
    pub(crate) fn begin(&mut self, ticket: Ticket, work: Work) {
        let teller = Teller { ticket, tally: self.tally.clone(), outbox: self.outbox.clone() };
        let client = self.client.clone();
        match work {
            Work::Timer(length) => self.timers.set(ticket, self.tally.clock.now() + length),
            Work::Http(request) => self.spawn(ticket, async move {
                // The user's own leash is what the user waits with; this ends with the task.
                let (mut alarm, leash) = (Alarm::new(teller.tally.clock), Leash::default());
                if let Some(response) = client.request(request, &mut alarm, &leash).await {
                    teller.tell(Event::Response(Box::new(response)));
                }
            }),
            Work::GrpcCall(call) => self.spawn(ticket, async move {
                let (mut alarm, leash) = (Alarm::new(teller.tally.clock), Leash::default());
                if let Some(reply) = client.grpc_call(*call, &mut alarm, &leash).await {
                    teller.tell(Event::GrpcReply(Box::new(reply)));
                }
            }),
            Work::GrpcStream(stream) => {
                let (words, mut heard) = mpsc::unbounded_channel();
                let talk = async move {
                    let tell = |event| teller.tell(event);
                    client.grpc_stream(*stream, &mut heard, &tell).await;
                };
                let handle = tokio::task::spawn_local(talk);
                self.tasks.insert(ticket, Task { handle, words: Some(words) });
            }
            Work::Socket(request) => {
                let (words, heard) = mpsc::unbounded_channel();
                let talk = async move {
                    let tell = |event, loan| teller.send(Event::Socket(event), loan);
                    client.socket(*request, heard, &tell).await;
                };
                self.tasks.insert(ticket, Task { handle: tokio::task::spawn_local(talk), words: Some(words) });
            }
        }
    }

    fn spawn(&mut self, ticket: Ticket, task: impl Future<Output = ()> + 'static) {
        self.tasks.insert(ticket, Task { handle: tokio::task::spawn_local(task), words: None });
    }

    /// Says something to what goes on.
    pub(crate) fn tell(&mut self, ticket: Ticket, word: Word) {
        match word {
            Word::Cancel => {
                self.timers.cancel(ticket);
                self.tasks.remove(&ticket);
            }
            word => {
                let words = self.tasks.get(&ticket).and_then(|task| task.words.as_ref());
                // What is over already hears nothing.
                let _ = words.map(|words| words.send(word));
            }
        }
    }

    /// Waits for the next event; `None` if the scenario cuts the user off.
    pub(crate) async fn next(&mut self, alarm: &mut Alarm, leash: &Leash) -> Option<(Ticket, Event)> {
        if !self.tasks.is_empty() {
            leash.asks(self.tally.clock.now());
        }
        let mut waited = false;
        loop {
            if let Some(ready) = self.ready() {
                if !waited {
                    // A user to whom something happens all the time must not keep the others from running.
                    alarm.wait(tokio::task::yield_now(), NEVER, leash).await.ok()?;
                }
                return Some(ready);
            }
            waited = true;
            let due = self.timers.next_due().unwrap_or(NEVER);
            match alarm.wait(self.inbox.recv(), due, leash).await {
                Ok(told) => self.first = told,
                Err(Elapsed::Deadline) => self.tally.late(due, self.tally.clock.now()),
                Err(Elapsed::Cut) => return None,
            }
        }
    }

    /// Takes what has happened first, if anything has.
    fn ready(&mut self) -> Option<(Ticket, Event)> {
        let due = self.timers.next_due().filter(|due| *due <= self.tally.clock.now());
        loop {
            let told = match self.first.take() {
                Some(told) => told,
                None => match self.inbox.try_recv() {
                    Ok(told) => told,
                    Err(_) => break,
                },
            };
            if !self.tasks.contains_key(&told.ticket) {
                // It was cancelled after this had happened.
                continue;
            }
            if due.is_some_and(|due| due <= told.at) {
                self.first = Some(told);
                break;
            }
            if told.event.is_last() {
                self.tasks.remove(&told.ticket);
            }
            return Some((told.ticket, told.event));
        }
        due.and_then(|_| self.timers.take()).map(|ticket| (ticket, Event::Rang))
    }
}

/// Tells the user what happens to one thing.
struct Teller {
    ticket: Ticket,
    tally: Rc<Tally>,
    outbox: UnboundedSender<Told>,
}

impl Teller {
    fn tell(&self, event: Event) {
        self.send(event, None);
    }

    fn send(&self, event: Event, loan: Option<Loan>) {
        // Nobody listens any more once the iteration is over.
        let _ = self.outbox.send(Told { at: self.tally.clock.now(), ticket: self.ticket, event, _loan: loan });
    }
}
