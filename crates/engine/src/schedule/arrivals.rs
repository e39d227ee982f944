//! What the arrival-rate executors share: iterations begin when they are planned, whatever the service does. Worker w
//! starts every n-th of them; if none of its users is free, a free one of another worker is asked, and only if there is
//! none at all the iteration is dropped, loudly, and one more user is made.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use model::metric::MetricId;
use model::unit::Moment;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

use super::Part;
use crate::alarm::{Alarm, Leash, NEVER};
use crate::crew::Seat;

/// How many iterations may be started in a row before the others may run.
const STARTS_IN_A_ROW: u32 = 32;

/// What is to be offered.
pub(super) struct Offer<'a> {
    /// When iteration `index` begins, counted from the beginning of the scenario; `None` behind its end.
    pub(super) start: &'a dyn Fn(u64) -> Option<Duration>,
    pub(super) duration: Duration,
    pub(super) pre_allocated_vus: u32,
    pub(super) max_vus: u32,
}

/// An iteration that another worker is asked to start, having promised a user for it.
struct Order {
    planned: Moment,
}

/// What the workers know of each other's users.
pub(super) struct Arrivals {
    /// Per worker: users that are free and not promised.
    free: Vec<AtomicU32>,
    orders: Vec<UnboundedSender<Order>>,
    inboxes: Vec<Mutex<Option<UnboundedReceiver<Order>>>>,
    made: AtomicU32,
    making: AtomicBool,
}

impl Arrivals {
    pub(super) fn new(workers: usize) -> Self {
        let (orders, inboxes) =
            (0..workers).map(|_| unbounded_channel()).map(|(order, inbox)| (order, Mutex::new(Some(inbox)))).unzip();
        Self {
            free: (0..workers).map(|_| AtomicU32::new(0)).collect(),
            orders,
            inboxes,
            made: AtomicU32::new(0),
            making: AtomicBool::new(false),
        }
    }

    /// Promises a free user of `worker`.
    fn promise(&self, worker: usize) -> bool {
        self.free[worker].fetch_update(Ordering::AcqRel, Ordering::Acquire, |free| free.checked_sub(1)).is_ok()
    }

    /// Promises a free user, of `worker` if it has one.
    fn promise_any(&self, worker: usize) -> Option<usize> {
        let workers = self.free.len();
        (0..workers).map(|step| (worker + step) % workers).find(|worker| self.promise(*worker))
    }

    /// Whether one more user may be made now; only one is made at a time.
    fn may_make(&self, max_vus: u32) -> bool {
        if self.making.swap(true, Ordering::AcqRel) {
            return false;
        }
        let may =
            self.made.fetch_update(Ordering::AcqRel, Ordering::Acquire, |made| (made < max_vus).then_some(made + 1));
        if may.is_err() {
            self.making.store(false, Ordering::Release);
        }
        may.is_ok()
    }
}

/// The users of one worker, and what they are at.
struct Pool {
    part: Rc<Part>,
    free: RefCell<Vec<Seat>>,
    cut_at: Moment,
}

impl Pool {
    fn arrivals(&self) -> &Arrivals {
        &self.part.shared.arrivals
    }

    fn release(&self, seat: Seat) {
        self.free.borrow_mut().push(seat);
        self.arrivals().free[self.part.share.worker].fetch_add(1, Ordering::AcqRel);
    }

    /// Starts an iteration with a user that was promised.
    fn start(self: &Rc<Self>, users: &mut JoinSet<()>, planned: Moment) {
        let mut seat = self.free.borrow_mut().pop().expect("a promised user is free");
        let pool = self.clone();
        users.spawn_local(async move {
            let part = &pool.part;
            if !seat.leash.halted() {
                let number = part.shared.take_number();
                let ended = seat.iterate(&part.crew, &part.assignment, number, Some(planned)).await;
                if let Some(ended) = ended {
                    let length_ms = ended.since(planned).as_secs_f64() * 1e3;
                    part.crew.tally.meter.add(MetricId::ITERATION_RESPONSE_TIME, length_ms, part.assignment.tags);
                }
            }
            pool.release(seat);
        });
    }

    /// Plans an iteration for now: here, elsewhere, or not at all.
    fn arrive(self: &Rc<Self>, users: &mut JoinSet<()>, planned: Moment, max_vus: u32) {
        let worker = self.part.share.worker;
        match self.arrivals().promise_any(worker) {
            Some(promised) if promised == worker => self.start(users, planned),
            Some(promised) => {
                // The other part keeps its inbox until all dispatchers have ended.
                let _ = self.arrivals().orders[promised].send(Order { planned });
            }
            None => {
                self.part.drop_iterations(1);
                if self.arrivals().may_make(max_vus) {
                    let pool = self.clone();
                    users.spawn_local(async move {
                        if let Some(seat) = pool.part.take(pool.cut_at) {
                            pool.release(seat);
                        }
                        pool.arrivals().making.store(false, Ordering::Release);
                    });
                }
            }
        }
    }
}

pub(super) async fn run(part: &Rc<Part>, offer: Offer<'_>, leash: &Rc<Leash>) {
    let Offer { start, duration, pre_allocated_vus, max_vus } = offer;
    let max_vus = part.share.users_here(max_vus);
    let end = part.begin + duration;
    let cut_at = end + part.scenario.graceful_stop;
    let pool = Rc::new(Pool { part: part.clone(), free: RefCell::default(), cut_at });
    let worker = part.share.worker;
    pool.arrivals().made.fetch_max(part.share.users_here(pre_allocated_vus), Ordering::AcqRel);
    for _ in part.share.slots(pre_allocated_vus) {
        let Some(seat) = part.take(cut_at) else { break };
        pool.release(seat);
    }
    let inbox = pool.arrivals().inboxes[worker].lock().expect("nobody panics holding it").take();
    let inbox = inbox.expect("each part runs once");
    let mut orders = JoinSet::new();
    orders.spawn_local(take_orders(pool.clone(), inbox));
    let mut users = JoinSet::new();
    let mut alarm = Alarm::new(part.crew.tally.clock);
    let mut in_a_row = 0;
    for index in (worker as u64..).step_by(part.share.workers) {
        let Some(begin) = start(part.share.segment.item(index)) else { break };
        let planned = part.begin + begin;
        if part.now() < planned {
            alarm.rest_until(planned, leash, || false).await;
            in_a_row = 0;
        }
        if leash.halted() {
            break;
        }
        pool.arrive(&mut users, planned, max_vus);
        in_a_row += 1;
        if in_a_row >= STARTS_IN_A_ROW {
            in_a_row = 0;
            while users.try_join_next().is_some() {}
            tokio::task::yield_now().await;
        }
    }
    alarm.rest_until(end, leash, || false).await;
    if part.shared.part_ends() {
        pool.arrivals().orders.iter().for_each(|order| {
            let _ = order.send(Order { planned: NEVER });
        });
    }
    users.join_all().await;
    orders.join_all().await;
    let seats = std::mem::take(&mut *pool.free.borrow_mut());
    seats.into_iter().for_each(|seat| part.crew.give_back(seat));
}

/// Starts what other workers order, until the last of them says that nothing more will come.
async fn take_orders(pool: Rc<Pool>, mut inbox: UnboundedReceiver<Order>) {
    let mut users = JoinSet::new();
    while let Some(order) = inbox.recv().await {
        if order.planned == NEVER {
            break;
        }
        pool.start(&mut users, order.planned);
        while users.try_join_next().is_some() {}
    }
    users.join_all().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_of_other_workers_help_out() {
        let arrivals = Arrivals::new(3);
        arrivals.free[1].store(1, Ordering::Release);
        assert_eq!(arrivals.promise_any(2), Some(1));
        assert_eq!(arrivals.promise_any(2), None);
    }

    #[test]
    fn one_user_is_made_at_a_time_and_never_too_many() {
        let arrivals = Arrivals::new(1);
        assert!(arrivals.may_make(2));
        assert!(!arrivals.may_make(2));
        arrivals.making.store(false, Ordering::Release);
        assert!(arrivals.may_make(2));
        arrivals.making.store(false, Ordering::Release);
        assert!(!arrivals.may_make(2));
    }
}
