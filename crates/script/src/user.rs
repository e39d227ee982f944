//! Users as the engine room drives them: each an iteration in a fiber that asks and waits.

#[cfg(test)]
mod tests;

use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use engine::meter::{Meter, TagSet};
use engine::user::{Answer, Ask, Ending, Nursery, User, UserError, UserFactory};
use model::record::Level;

use crate::execution::{Life, Role};
use crate::host::{Host, Phase, Seat, SetupData, World};
use crate::native::{Fiber, Lane, StackPool, Step};
use crate::realm::{Realm, RealmError};

/// Makes the users of a script in one run.
pub struct ScriptUsers {
    world: Arc<World>,
    setup_data: SetupData,
    /// What `handleSummary()` is to be called with, and where its result goes.
    summary: Option<(Arc<str>, Handled)>,
}

/// Where texts or bytes are to go: `stdout`, `stderr` or a path, and what.
pub type Destinations = Vec<(String, Vec<u8>)>;

/// What `handleSummary()` returned. `None` inside if it wants the usual summary; nothing at all if it did not come to
/// its end.
pub type Handled = Arc<OnceLock<Option<Destinations>>>;

impl ScriptUsers {
    pub(crate) fn new(world: Arc<World>) -> Self {
        Self { world, setup_data: SetupData::default(), summary: None }
    }

    /// What `setup()` returned, as JSON.
    pub fn setup_data(&self) -> Option<String> {
        self.setup_data.get().cloned().flatten()
    }

    /// Makes the one user that calls `handleSummary(data)` in its only iteration; `data` is JSON, to which the setup data
    /// is added.
    pub fn handle_summary(&self, data: String) -> (Arc<dyn UserFactory>, Handled) {
        let handled = Handled::default();
        let summary = Some((Arc::from(data), handled.clone()));
        (Arc::new(Self { world: self.world.clone(), setup_data: self.setup_data.clone(), summary }), handled)
    }
}

impl UserFactory for ScriptUsers {
    fn nursery(&self, _worker: usize, meter: Rc<Meter>) -> Result<Box<dyn Nursery>, UserError> {
        Ok(Box::new(ScriptNursery {
            pool: StackPool::new(self.world.stack_bytes),
            world: self.world.clone(),
            setup_data: self.setup_data.clone(),
            summary: self.summary.clone(),
            meter,
            realm: None,
        }))
    }
}

/// Makes the users of one worker, realm after realm.
struct ScriptNursery {
    world: Arc<World>,
    setup_data: SetupData,
    summary: Option<(Arc<str>, Handled)>,
    meter: Rc<Meter>,
    pool: Rc<StackPool>,
    /// The realm that is being filled, and how many users it has.
    realm: Option<(Rc<Realm>, u32)>,
}

impl ScriptNursery {
    fn make(&mut self, vu: u32, role: Role) -> Result<Box<dyn User>, UserError> {
        self.start(vu, role).map_err(|error| UserError { message: error.to_string() })
    }

    fn start(&mut self, vu: u32, role: Role) -> Result<Box<dyn User>, RealmError> {
        let realm = self.place()?;
        let seat = Seat::new(vu);
        let (lane, exports) = realm.start(&seat)?;
        let life = Life::new(role, exports, realm.own.clone(), realm.host.clone(), seat.clone());
        Ok(Box::new(ScriptUser { fiber: None, life, lane, seat, pool: self.pool.clone(), realm }))
    }

    /// A realm with room for one more.
    fn place(&mut self) -> Result<Rc<Realm>, RealmError> {
        if let Some((realm, users)) = &mut self.realm
            && realm.takes(*users + 1)
        {
            *users += 1;
            return Ok(realm.clone());
        }
        let host = Host::new(self.world.clone(), self.meter.clone(), self.setup_data.clone());
        let realm = Realm::new(host)?;
        self.realm = Some((realm.clone(), 1));
        Ok(realm)
    }
}

impl Nursery for ScriptNursery {
    fn user(&mut self, vu: u32) -> Result<Box<dyn User>, UserError> {
        match self.summary.clone() {
            Some((data, handled)) => self.make(vu, Role::Summary(data, handled)),
            None => self.make(vu, Role::Scenario),
        }
    }

    fn setup(&mut self) -> Result<Box<dyn User>, UserError> {
        self.make(0, Role::Setup)
    }

    fn teardown(&mut self) -> Result<Box<dyn User>, UserError> {
        self.make(0, Role::Teardown)
    }
}

/// A virtual user. Fields are dropped in this order: what holds values of the engine before the engine.
struct ScriptUser {
    /// The iteration that is going on.
    fiber: Option<Fiber>,
    life: Rc<Life>,
    lane: Lane,
    seat: Rc<Seat>,
    pool: Rc<StackPool>,
    realm: Rc<Realm>,
}

impl User for ScriptUser {
    fn resume(&mut self, answer: Answer) -> Ask {
        if matches!(answer, Answer::Begin(..)) {
            self.stop();
            let life = self.life.clone();
            let fiber = Fiber::new(&self.pool, self.realm.engine.clone(), move |ctx, answer| life.iterate(ctx, answer));
            match fiber {
                Ok(fiber) => self.fiber = Some(fiber),
                Err(error) => {
                    let text =
                        format!("no memory for the stack of a user ({} bytes): {error}", self.pool.stack_bytes());
                    return Ask::Done(Ending::Aborted(text));
                }
            }
        }
        let Some(fiber) = self.fiber.as_mut() else { return Ask::Done(Ending::Interrupted) };
        self.realm.host.sit(&self.seat);
        match self.lane.enter(|| fiber.resume(answer)) {
            Step::Asks(ask) => ask,
            Step::Ends(ending) => {
                self.fiber = None;
                self.seat.events.clear();
                // A script that was stopped in the middle may have left promises that nobody waits for.
                if !matches!(ending, Ending::Completed) {
                    self.lane.drop_jobs();
                    self.seat.rejections.take();
                }
                if self.seat.ran_out.take()
                    && let Some(ending) = self.give_back()
                {
                    return Ask::Done(ending);
                }
                Ask::Done(ending)
            }
        }
    }

    fn tags(&self) -> Option<TagSet> {
        self.seat.assignment.borrow().is_some().then(|| self.seat.root_tags.get())
    }
}

impl ScriptUser {
    /// Gives memory back behind an iteration that ran out of it. Where the script itself keeps too much of it, the user
    /// begins anew, with its init code: it would run out again at once. Returns what then ends the run, if anything.
    fn give_back(&mut self) -> Option<Ending> {
        self.realm.engine.collect();
        if !self.lane.holds_much() {
            return None;
        }
        match self.realm.start(&self.seat) {
            Ok((lane, exports)) => {
                self.life = self.life.anew(exports);
                self.lane = lane;
                self.realm.engine.collect();
                let text = "the user begins anew, with its init code: its script kept too much memory";
                self.realm.host.meter.log(Level::Warn, text);
                None
            }
            Err(RealmError::Aborted(text)) => Some(Ending::Aborted(text)),
            Err(error) => {
                self.seat.phase.set(Phase::Iteration);
                self.realm.host.meter.log(Level::Error, error.to_string());
                None
            }
        }
    }

    /// Ends the iteration that is going on: a suspended fiber holds values of the engine on its stack, which must be
    /// given back in order.
    fn stop(&mut self) {
        while self.fiber.as_ref().is_some_and(Fiber::is_suspended) {
            self.resume(Answer::Cancel);
        }
    }
}

impl Drop for ScriptUser {
    fn drop(&mut self) {
        self.stop();
    }
}
