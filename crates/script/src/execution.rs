//! One iteration of a user, as it runs in its fiber: begin, call, wait for promises, and say how it ended.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use engine::meter::TagSet;
use engine::user::{Answer, Assignment, Ending};
use model::record::Level;
use rquickjs::promise::PromiseState;
use rquickjs::{Ctx, Exception, Function, Object, Persistent, Promise, Result, Value};

use crate::event_loop;
use crate::host::{Host, Seat, text};
use crate::native;
use crate::thrown::Thrown;
use crate::user::{Destinations, Handled};

/// What the iterations of a user are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Calls of the function that the scenario names.
    Scenario,
    /// One call of `setup`, whose result is kept for everybody.
    Setup,
    /// One call of `teardown`.
    Teardown,
    /// One call of `handleSummary` with this JSON, whose result goes there.
    Summary(Arc<str>, Handled),
}

/// What a user keeps from one iteration to the next.
pub(crate) struct Life {
    role: Role,
    exports: Persistent<Object<'static>>,
    own: Persistent<Object<'static>>,
    /// The function of the assignment that it was looked up for.
    exec: RefCell<Option<Persistent<Function<'static>>>>,
    /// Setup data, decoded.
    data: RefCell<Option<Persistent<Value<'static>>>>,
    /// Environment of the scenario before.
    overlaid: RefCell<BTreeMap<String, String>>,
    host: Rc<Host>,
    seat: Rc<Seat>,
}

impl Life {
    pub(crate) fn new(
        role: Role,
        exports: Persistent<Object<'static>>,
        own: Persistent<Object<'static>>,
        host: Rc<Host>,
        seat: Rc<Seat>,
    ) -> Rc<Self> {
        let (exec, data, overlaid) = (RefCell::default(), RefCell::default(), RefCell::default());
        Rc::new(Self { role, exports, own, exec, data, overlaid, host, seat })
    }

    /// The same user with fresh exports: it remembers nothing of what its script kept.
    pub(crate) fn anew(&self, exports: Persistent<Object<'static>>) -> Rc<Self> {
        Self::new(self.role.clone(), exports, self.own.clone(), self.host.clone(), self.seat.clone())
    }

    /// Runs one iteration.
    pub(crate) fn iterate(&self, ctx: &Ctx<'_>, answer: Answer) -> Ending {
        let Answer::Begin(assignment, iteration) = answer else { return Ending::Interrupted };
        let result = self.run(ctx, &assignment, iteration);
        let mut thrown = result.err().map(|error| Thrown::catch(ctx, &error));
        if let Some(bytes) = native::ran_out_of() {
            let headline = format!(
                "out of memory: this user's script holds more than {} MB, which --memory-per-user limits",
                bytes / (1024 * 1024)
            );
            thrown = Some(Thrown { headline, stack: thrown.map(|thrown| thrown.stack).unwrap_or_default() });
        }
        self.seat.ran_out.set(thrown.as_ref().is_some_and(Thrown::is_out_of_memory) || native::ran_out_of().is_some());
        let rejections = self.seat.rejections.take();
        if native::is_cancelled() && native::ran_out_of().is_none() {
            return Ending::Interrupted;
        }
        let mask = |text: String| self.host.world.secrets.mask(&text).into_owned();
        if let Some(ending) = self.seat.ending.take() {
            return match ending {
                Ending::Aborted(text) => Ending::Aborted(mask(text)),
                Ending::Unsupported(text) => Ending::Unsupported(mask(text)),
                ending => ending,
            };
        }
        let thrown = thrown.map(|thrown| {
            // Memory runs out anywhere: the place would tell apart what is one thing.
            let place = thrown.place().filter(|_| native::ran_out_of().is_none());
            let place = place.map_or(String::new(), |place| format!(" ({place})"));
            if self.role == Role::Scenario {
                self.host.meter.exception(&format!("{}{place}", thrown.headline));
            }
            (thrown.headline.clone(), thrown.to_string())
        });
        let others = rejections.into_iter().map(|(_, text)| {
            let text = format!("uncaught in a promise: {text}");
            (text.clone(), text)
        });
        let is_promise = thrown.is_none();
        let mut all = thrown.into_iter().chain(others);
        let Some((headline, text)) = all.next() else { return Ending::Completed };
        if is_promise && self.role == Role::Scenario {
            self.host.meter.exception(headline.lines().next().unwrap_or_default());
        }
        // Why there is no summary of the script's own is said by whoever shows the usual one.
        if !matches!(self.role, Role::Summary(..)) {
            self.host.meter.log(Level::Error, text);
        }
        all.for_each(|(_, text)| self.host.meter.log(Level::Error, text));
        Ending::Threw(mask(headline))
    }

    fn run(&self, ctx: &Ctx<'_>, assignment: &Rc<Assignment>, iteration: u64) -> Result<()> {
        let function = self.begin(ctx, assignment, iteration)?;
        let result: Value<'_> = match &self.role {
            Role::Setup => function.call(())?,
            Role::Scenario | Role::Teardown => function.call((self.data(ctx)?,))?,
            Role::Summary(json, _) => {
                let data = ctx.json_parse(&**json)?;
                if let Some(object) = data.as_object() {
                    object.set("setup_data", self.data(ctx)?)?;
                }
                function.call((data,))?
            }
        };
        let result = self.settle(ctx, result)?;
        match &self.role {
            Role::Setup => self.keep(ctx, result)?,
            Role::Summary(_, handled) => {
                // There is one call of it.
                let _ = handled.set(destinations(ctx, &result)?);
            }
            Role::Scenario | Role::Teardown => {}
        }
        Ok(())
    }

    /// Makes the seat ready, and finds the function to call.
    fn begin<'js>(&self, ctx: &Ctx<'js>, assignment: &Rc<Assignment>, iteration: u64) -> Result<Function<'js>> {
        let seat = &self.seat;
        let is_same = seat.assignment.borrow().as_ref().is_some_and(|before| Rc::ptr_eq(before, assignment));
        if !is_same || self.exec.borrow().is_none() {
            self.assign(ctx, assignment)?;
        }
        if !is_same {
            seat.begun_in_scenario.set(0);
            seat.metadata.take();
        }
        // As in k6, setup() and teardown() have none.
        if self.role == Role::Scenario {
            ctx.globals().set("__ITER", seat.begun.get())?;
        }
        if !self.host.meter.plan().http.no_cookies_reset {
            seat.jar.clear();
        }
        seat.begun.set(seat.begun.get() + 1);
        seat.begun_in_scenario.set(seat.begun_in_scenario.get() + 1);
        seat.iteration_in_test.set(iteration);
        seat.tags.set(seat.root_tags.get());
        let exec = self.exec.borrow().clone().expect("it was looked up with the assignment");
        exec.restore(ctx)
    }

    /// Changes to another scenario.
    fn assign(&self, ctx: &Ctx<'_>, assignment: &Rc<Assignment>) -> Result<()> {
        let seat = &self.seat;
        let exports = self.exports.clone().restore(ctx)?;
        let name = match &self.role {
            Role::Scenario => assignment.exec.as_str(),
            Role::Summary(..) => "handleSummary",
            Role::Setup => "setup",
            Role::Teardown => "teardown",
        };
        let value: Value<'_> = exports.get(name)?;
        let Some(function) = value.as_function() else {
            return Err(Exception::throw_type(ctx, &format!("the script exports no function '{name}'")));
        };
        self.exec.replace(Some(Persistent::save(ctx, function.clone())));
        seat.assignment.replace(Some(assignment.clone()));
        let path: Rc<str> = match &self.role {
            Role::Scenario | Role::Summary(..) => "".into(),
            Role::Setup => "::setup".into(),
            Role::Teardown => "::teardown".into(),
        };
        let tags: TagSet = assignment.tags;
        seat.root_tags.set(if path.is_empty() { tags } else { self.host.group_tags(tags, &path) });
        seat.group.replace(path);
        let env: BTreeMap<_, _> = assignment.env.iter().cloned().collect();
        let before = self.overlaid.replace(env.clone());
        if before != env {
            let overlay: Function<'_> = self.own.clone().restore(ctx)?.get("overlay")?;
            overlay.call::<_, ()>((object(ctx, &before)?, object(ctx, &env)?))?;
        }
        Ok(())
    }

    /// What `setup()` returned, decoded once for this user.
    fn data<'js>(&self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        if let Some(data) = self.data.borrow().as_ref() {
            return data.clone().restore(ctx);
        }
        let Some(Some(json)) = self.host.setup_data.get() else { return Ok(Value::new_undefined(ctx.clone())) };
        let data = ctx.json_parse(json.as_str())?;
        self.data.replace(Some(Persistent::save(ctx, data.clone())));
        Ok(data)
    }

    /// Keeps what `setup()` returned, as JSON.
    fn keep<'js>(&self, ctx: &Ctx<'js>, value: Value<'js>) -> Result<()> {
        let encode: Function<'js> = self.own.clone().restore(ctx)?.get("encode")?;
        let json: Option<String> = encode.call((value,))?;
        // A second setup in one run would be the engine's mistake; the first stays.
        let _ = self.host.setup_data.set(json);
        Ok(())
    }

    /// Runs promise jobs and events until nothing is pending, and gives what `value` came to. As in k6, a rejection that
    /// nobody handles ends the iteration at once, and a promise that nothing settles any more ends it well.
    fn settle<'js>(&self, ctx: &Ctx<'js>, value: Value<'js>) -> Result<Value<'js>> {
        let seat = &self.seat;
        loop {
            event_loop::run_jobs(ctx, seat);
            if seat.is_over() {
                return Ok(value);
            }
            let state = value.as_promise().map(Promise::state);
            if let (Some(PromiseState::Rejected), Some(promise)) = (state, value.as_promise()) {
                // Whoever awaits it is us, so its rejection is not unhandled.
                let is_it =
                    |known: &Persistent<Value<'static>>| known.clone().restore(ctx).is_ok_and(|known| known == value);
                seat.rejections.borrow_mut().retain(|(known, _)| !is_it(known));
                return result_of(promise);
            }
            if seat.events.is_idle() || !seat.rejections.borrow().is_empty() {
                return match (state, value.as_promise()) {
                    (Some(PromiseState::Resolved), Some(promise)) => result_of(promise),
                    (Some(_), _) => Ok(Value::new_undefined(ctx.clone())),
                    (None, _) => Ok(value),
                };
            }
            event_loop::turn(ctx, seat)?;
        }
    }
}

/// What `handleSummary()` returned: where what is to go. `None` if it left that to us.
fn destinations<'js>(ctx: &Ctx<'js>, result: &Value<'js>) -> Result<Option<Destinations>> {
    if result.is_null() || result.is_undefined() {
        return Ok(None);
    }
    let object = result.as_object().filter(|object| !object.is_array() && !object.is_function());
    let Some(object) = object.filter(|_| !native::is_binary(result)) else {
        let wanted = "an object whose keys are `stdout`, `stderr` or paths";
        return Err(Exception::throw_type(ctx, &format!("handleSummary() must return {wanted}")));
    };
    let mut all = Vec::new();
    for pair in object.props::<String, Value<'js>>() {
        let (key, value) = pair?;
        let bytes = if value.is_string() { Some(text(&value)?.into_bytes()) } else { native::copy_bytes(&value) };
        let Some(bytes) = bytes else {
            let given = value.type_name();
            let sentence =
                format!("handleSummary() returned {given} for `{key}`: a text or an ArrayBuffer is expected");
            return Err(Exception::throw_type(ctx, &sentence));
        };
        all.push((key, bytes));
    }
    Ok(Some(all))
}

fn result_of<'js>(promise: &Promise<'js>) -> Result<Value<'js>> {
    promise.result().expect("the promise is settled")
}

fn object<'js>(ctx: &Ctx<'js>, pairs: &BTreeMap<String, String>) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    for (key, value) in pairs {
        object.set(key, value)?;
    }
    Ok(object)
}
