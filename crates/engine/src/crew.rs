//! The users of one worker: making them, seating them in scenarios, and letting them run one iteration.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::Duration;

use model::metric::MetricId;
use model::unit::Moment;

use crate::alarm::{Alarm, Elapsed, Leash, NEVER};
use crate::meter::TagSet;
use crate::net::{Client, Gate, Net, Pace};
use crate::ongoing::Ongoing;
use crate::run::EndReason;
use crate::tally::Tally;
use crate::user::{Answer, Ask, Assignment, Ending, Nursery, User, UserError};
use crate::worker::Report;

/// How often a user that was told to stop is told again before it is left alone.
const CANCELS_MAX: usize = 16;

/// A user with all that it needs.
pub(crate) struct Seat {
    user: Box<dyn User>,
    client: Rc<Client>,
    /// What the user has begun and not waited for; made when it is needed, gone with the iteration.
    ongoing: Option<Box<Ongoing>>,
    alarm: Alarm,
    tally: Rc<Tally>,
    /// Ties it to its scenario.
    pub(crate) leash: Rc<Leash>,
}

/// How the run is being stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Halt {
    Gracefully(Moment),
    Now,
}

/// All users of one worker.
pub(crate) struct Crew {
    /// Samples and windows.
    pub(crate) tally: Rc<Tally>,
    net: Rc<Net>,
    nursery: RefCell<Box<dyn Nursery>>,
    free: RefCell<Vec<Seat>>,
    leashes: RefCell<Vec<Weak<Leash>>>,
    halt: Cell<Option<Halt>>,
    numbers: Cell<u32>,
    numbers_step: u32,
    report: Box<dyn Fn(Report)>,
}

/// Where a crew reports to, and which numbers its users have.
pub(crate) struct Post {
    pub(crate) worker: usize,
    pub(crate) workers: usize,
    pub(crate) gate: Gate,
    pub(crate) pace: Option<Arc<Pace>>,
    pub(crate) report: Box<dyn Fn(Report)>,
}

impl Crew {
    pub(crate) fn new(tally: Rc<Tally>, nursery: Box<dyn Nursery>, post: Post) -> Rc<Self> {
        let number = |index: usize| u32::try_from(index).expect("few workers");
        Rc::new(Self {
            net: Net::new(tally.clone(), post.gate, post.pace),
            tally,
            nursery: RefCell::new(nursery),
            free: RefCell::default(),
            leashes: RefCell::default(),
            halt: Cell::new(None),
            numbers: Cell::new(number(post.worker) + 1),
            numbers_step: number(post.workers),
            report: post.report,
        })
    }

    /// Tells the conductor.
    pub(crate) fn report(&self, report: Report) {
        (self.report)(report);
    }

    /// Makes one more user and keeps it ready.
    pub(crate) fn prepare(&self) -> Result<(), UserError> {
        let seat = self.make()?;
        self.free.borrow_mut().push(seat);
        Ok(())
    }

    fn make(&self) -> Result<Seat, UserError> {
        let number = self.numbers.get();
        self.numbers.set(number + self.numbers_step);
        let user = self.nursery.borrow_mut().user(number)?;
        self.tally.meter.progress().user_made(self.tally.meter.worker());
        Ok(self.seat(user, number))
    }

    fn seat(&self, user: Box<dyn User>, number: u32) -> Seat {
        let leash = Rc::new(Leash::default());
        self.enlist(&leash);
        let (client, alarm) = (Rc::new(Client::new(self.net.clone(), number)), Alarm::new(self.tally.clock));
        Seat { user, client, ongoing: None, alarm, tally: self.tally.clone(), leash }
    }

    /// Lets stops reach this leash too.
    pub(crate) fn enlist(&self, leash: &Rc<Leash>) {
        match self.halt.get() {
            Some(Halt::Gracefully(at)) => leash.halt(at),
            Some(Halt::Now) => leash.cut(),
            None => {}
        }
        let mut leashes = self.leashes.borrow_mut();
        if leashes.len() == leashes.capacity() {
            leashes.retain(|leash| leash.strong_count() > 0);
        }
        leashes.push(Rc::downgrade(leash));
    }

    /// A user for a scenario; a new one if none is ready. A failure ends the run, and is reported here.
    pub(crate) fn take(&self, graceful: Duration, cut_at: Moment) -> Option<Seat> {
        let ready = self.free.borrow_mut().pop();
        let seat = match ready {
            Some(seat) => seat,
            None => match self.make() {
                Ok(seat) => {
                    self.report(Report::Made);
                    seat
                }
                Err(error) => {
                    self.report(Report::InitFailed(error.message));
                    return None;
                }
            },
        };
        seat.leash.set_graceful(graceful);
        seat.leash.set_cut(cut_at);
        if let Some(Halt::Gracefully(at)) = self.halt.get() {
            seat.leash.halt(at);
        }
        self.tally.user_joins();
        Some(seat)
    }

    /// The scenario needs this user no more.
    pub(crate) fn give_back(&self, seat: Seat) {
        self.tally.user_leaves();
        seat.client.close();
        self.free.borrow_mut().push(seat);
    }

    /// No new iterations; running ones may go on for the graceful time of their scenario.
    pub(crate) fn halt(&self) {
        let now = self.tally.clock.now();
        self.halt.set(Some(Halt::Gracefully(now)));
        self.each_leash(|leash| leash.halt(now));
    }

    /// Ends everything now.
    pub(crate) fn cut(&self) {
        self.halt.set(Some(Halt::Now));
        self.each_leash(Leash::cut);
    }

    /// Forgets an earlier stop.
    pub(crate) fn release(&self) {
        self.halt.set(None);
        self.each_leash(Leash::release);
    }

    /// Whether no new iteration may begin.
    pub(crate) fn halted(&self) -> bool {
        self.halt.get().is_some()
    }

    /// Lets resting users look again.
    pub(crate) fn wake_all(&self) {
        self.each_leash(Leash::wake);
    }

    fn each_leash(&self, act: impl Fn(&Leash)) {
        self.leashes.borrow().iter().filter_map(Weak::upgrade).for_each(|leash| act(&leash));
    }

    /// Runs the only iteration of a temporary user: setup or teardown.
    pub(crate) async fn lone(&self, errand: Errand, timeout: Duration) -> Lone {
        let (user, exec) = match errand {
            Errand::Setup => (self.nursery.borrow_mut().setup(), "setup"),
            Errand::Teardown => (self.nursery.borrow_mut().teardown(), "teardown"),
        };
        match user {
            Ok(user) => self.alone(user, exec, timeout).await,
            Err(error) => Lone::Failed(error.message),
        }
    }

    /// Runs one iteration of a user that belongs to no scenario.
    pub(crate) async fn alone(&self, user: Box<dyn User>, exec: &str, timeout: Duration) -> Lone {
        let mut seat = self.seat(user, 0);
        let tags = self.tally.meter.tags(TagSet::RUN, &[("group", &format!("::{exec}"))]);
        let (scenario, exec) = (String::new(), exec.to_owned());
        let assignment = Rc::new(Assignment { scenario, number: usize::MAX, exec, env: Vec::new(), tags });
        seat.leash.set_cut(self.tally.clock.now() + timeout);
        let ending = seat.run(&assignment, 0).await;
        seat.traffic(seat.user.tags().unwrap_or(tags));
        match ending {
            Ending::Completed => Lone::Completed,
            Ending::Threw(message) => Lone::Failed(message),
            Ending::Aborted(message) => Lone::Aborted(EndReason::Aborted(message)),
            Ending::Unsupported(message) => Lone::Aborted(EndReason::Unsupported(message)),
            Ending::Interrupted if self.halted() => Lone::Stopped,
            Ending::Interrupted => Lone::TimedOut,
        }
    }
}

/// What a temporary user is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Errand {
    Setup,
    Teardown,
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lone {
    Completed,
    Failed(String),
    TimedOut,
    Stopped,
    Aborted(EndReason),
}

impl Seat {
    /// One iteration, counted and padded to its least length. `planned` is when it should have begun, if that was
    /// planned at all. Returns when it ended, if it was not cut short.
    pub(crate) async fn iterate(
        &mut self,
        crew: &Crew,
        assignment: &Rc<Assignment>,
        number: u64,
        planned: Option<Moment>,
    ) -> Option<Moment> {
        let tally = self.tally.clone();
        let began = tally.clock.now();
        if let Some(planned) = planned {
            tally.late(planned, began);
        }
        tally.iteration_begins(began);
        let ending = self.run(assignment, number).await;
        let ended = tally.clock.now();
        tally.iteration_ends(ended);
        let tags = self.user.tags().unwrap_or(assignment.tags);
        self.traffic(tags);
        let length = ended.since(began);
        let counts = matches!(ending, Ending::Completed | Ending::Threw(_));
        let (progress, worker) = (tally.meter.progress(), tally.meter.worker());
        match ending {
            // As in k6 the iteration that wants the end of the run counts.
            Ending::Completed | Ending::Threw(_) | Ending::Aborted(_) => {
                let length_ms = length.as_secs_f64() * 1e3;
                progress.completed(worker, assignment.number);
                tally.meter.add(MetricId::ITERATIONS, 1.0, tags);
                tally.meter.add(MetricId::ITERATION_DURATION, length_ms, tags);
                tally.meter.window(|window| {
                    window.iterations += 1;
                    window.exceptions += u64::from(matches!(ending, Ending::Threw(_)));
                    window.iteration_duration.record_ms(length_ms);
                });
            }
            Ending::Interrupted | Ending::Unsupported(_) => {
                progress.interrupted(worker);
                tally.meter.window(|window| window.interrupted += 1);
            }
        }
        match ending {
            Ending::Aborted(message) => self.abort(crew, EndReason::Aborted(message)),
            Ending::Unsupported(message) => self.abort(crew, EndReason::Unsupported(message)),
            _ => {}
        }
        let least = tally.meter.plan().min_iteration;
        if length < least {
            self.rest_until(began + least, || false).await;
        }
        counts.then_some(ended)
    }

    /// Ends the whole run.
    fn abort(&self, crew: &Crew, reason: EndReason) {
        self.leash.cut();
        crew.report(Report::Aborted(reason));
    }

    /// Rests between iterations; ends early at a stop, or when `changed` once it is woken.
    pub(crate) async fn rest_until(&mut self, moment: Moment, changed: impl Fn() -> bool) {
        self.alarm.rest_until(moment, &self.leash, changed).await;
    }

    fn traffic(&self, tags: TagSet) {
        let (sent, received) = self.client.end_iteration();
        self.tally.meter.add(MetricId::DATA_SENT, sent as f64, tags);
        self.tally.meter.add(MetricId::DATA_RECEIVED, received as f64, tags);
    }

    async fn run(&mut self, assignment: &Rc<Assignment>, number: u64) -> Ending {
        self.client.begin_iteration();
        let ending = self.converse(Answer::Begin(assignment.clone(), number)).await;
        self.ongoing = None;
        ending
    }

    /// Answers what the user asks for until its iteration is over.
    async fn converse(&mut self, mut answer: Answer) -> Ending {
        let mut cancels = 0;
        let mut waited = false;
        loop {
            let ask = self.user.resume(answer);
            if let Ask::Done(ending) = ask {
                if !waited {
                    // A user that asks for nothing must not keep the others from running.
                    tokio::task::yield_now().await;
                }
                return ending;
            }
            if cancels > 0 {
                cancels += 1;
                if cancels > CANCELS_MAX {
                    return Ending::Interrupted;
                }
                answer = Answer::Cancel;
                continue;
            }
            waited |= !matches!(ask, Ask::Start(..) | Ask::Tell(..));
            answer = self.grant(ask).await.unwrap_or(Answer::Cancel);
            self.leash.goes_on();
            cancels = usize::from(matches!(answer, Answer::Cancel));
        }
    }

    /// Does what the user asks for; `None` if the scenario cuts it off.
    async fn grant(&mut self, ask: Ask) -> Option<Answer> {
        let Self { client, ongoing, alarm, leash, tally, .. } = self;
        let begun = || Ongoing::new(client.clone(), tally.clone());
        Some(match ask {
            Ask::Http(request) => {
                let response = client.request(request, alarm, leash).await?;
                if !alarm.take_waited() {
                    // A request can fail at once, and a user that only fails must not keep the others from running.
                    alarm.wait(tokio::task::yield_now(), NEVER, leash).await.ok()?;
                }
                Answer::Response(Box::new(response))
            }
            Ask::Batch(requests) => {
                let responses = client.batch(requests, leash).await?;
                alarm.wait(tokio::task::yield_now(), NEVER, leash).await.ok()?;
                Answer::Responses(responses)
            }
            Ask::Sleep(length) => {
                let wake = tally.clock.now() + length;
                match alarm.sleep_until(wake, leash).await {
                    Elapsed::Cut => return None,
                    Elapsed::Deadline => tally.late(wake, tally.clock.now()),
                }
                Answer::Slept
            }
            Ask::Grpc(ask) => {
                let answer = client.grpc(*ask, alarm, leash).await?;
                if !alarm.take_waited() {
                    alarm.wait(tokio::task::yield_now(), NEVER, leash).await.ok()?;
                }
                Answer::Grpc(Box::new(answer))
            }
            Ask::Yield => {
                alarm.wait(tokio::task::yield_now(), NEVER, leash).await.ok()?;
                Answer::Slept
            }
            Ask::Start(ticket, work) => {
                ongoing.get_or_insert_with(begun).begin(ticket, work);
                Answer::Noted
            }
            Ask::Tell(ticket, word) => {
                ongoing.get_or_insert_with(begun).tell(ticket, word);
                Answer::Noted
            }
            Ask::Next => {
                let (ticket, event) = ongoing.get_or_insert_with(begun).next(alarm, leash).await?;
                Answer::Event(ticket, event)
            }
            Ask::Done(_) => unreachable!("an iteration that is over asks for nothing"),
        })
    }
}
