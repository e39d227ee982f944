//! `k6/timers`, which are globals as well: setTimeout, setInterval, clearTimeout, clearInterval.

use std::rc::Rc;

use engine::user::{Event, Ticket, Work};
use rquickjs::function::{Args, Opt, Rest};
use rquickjs::{Coerced, Ctx, Exception, Function, Object, Persistent, Result, Value};

use super::Builtin;
use crate::event_loop::{self, Flow};
use crate::host::{Host, Seat};

pub(super) const MODULE: Builtin =
    Builtin { name: "k6/timers", exports: &["clearInterval", "clearTimeout", "setInterval", "setTimeout"], make };

/// Whether a timer rings once or again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rings {
    Once,
    Repeatedly,
}

/// The object with all four.
pub(crate) fn make<'js>(ctx: &Ctx<'js>, host: &Rc<Host>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    for (name, rings) in [("setTimeout", Rings::Once), ("setInterval", Rings::Repeatedly)] {
        let of = host.clone();
        let set = move |ctx: Ctx<'js>, callback: Opt<Value<'js>>, delay: Opt<Coerced<f64>>, rest: Rest<Value<'js>>| {
            let Some(callback) = callback.0.as_ref().and_then(Value::as_function) else {
                return Err(Exception::throw_type(&ctx, &format!("{name}() needs a function to call")));
            };
            let delay_ms = delay.0.map_or(0.0, |delay| delay.0);
            let call = Call { callback: Persistent::save(&ctx, callback.clone()), arguments: save(&ctx, rest.0) };
            set(&ctx, &of.seat(), delay_ms, rings, call)
        };
        module.set(name, Function::new(ctx.clone(), set)?.with_name(name)?)?;
    }
    for name in ["clearTimeout", "clearInterval"] {
        let of = host.clone();
        let clear = move |ctx: Ctx<'js>, timer: Opt<Value<'js>>| clear(&ctx, &of.seat(), timer.0.as_ref());
        module.set(name, Function::new(ctx.clone(), clear)?.with_name(name)?)?;
    }
    Ok(module)
}

/// Begins a timer that calls `callback` without arguments.
///
/// # Errors
/// If the user is cancelled, or cannot wait where it is.
pub(super) fn begin<'js>(
    ctx: &Ctx<'js>,
    seat: &Rc<Seat>,
    callback: Function<'js>,
    delay_ms: f64,
    rings: Rings,
) -> Result<Ticket> {
    let call = Call { callback: Persistent::save(ctx, callback), arguments: Vec::new() };
    set(ctx, seat, delay_ms, rings, call).map(Ticket)
}

/// What a timer calls.
struct Call {
    callback: Persistent<Function<'static>>,
    arguments: Vec<Persistent<Value<'static>>>,
}

fn save<'js>(ctx: &Ctx<'js>, values: Vec<Value<'js>>) -> Vec<Persistent<Value<'static>>> {
    values.into_iter().map(|value| Persistent::save(ctx, value)).collect()
}

impl Call {
    fn run(&self, ctx: &Ctx<'_>) -> Result<()> {
        let mut arguments = Args::new(ctx.clone(), self.arguments.len());
        for argument in &self.arguments {
            arguments.push_arg(argument.clone().restore(ctx)?)?;
        }
        self.callback.clone().restore(ctx)?.call_arg(arguments)
    }
}

fn set(ctx: &Ctx<'_>, seat: &Rc<Seat>, delay_ms: f64, rings: Rings, call: Call) -> Result<u32> {
    let delay = event_loop::wait_of(delay_ms / 1e3);
    let (ticket, of) = (seat.events.ticket(), seat.clone());
    let handler = move |ctx: &Ctx<'_>, _: Event| {
        call.run(ctx)?;
        if rings == Rings::Once {
            return Ok(Flow::Ends);
        }
        // As in k6 the next wait begins when the call is over, and the call may have cleared it.
        if of.events.is_pending(ticket) {
            event_loop::start(ctx, &of, ticket, Work::Timer(delay))?;
        }
        Ok(Flow::GoesOn)
    };
    event_loop::begin(ctx, seat, ticket, Work::Timer(delay), Box::new(handler))?;
    Ok(ticket.0)
}

/// Clears a timer; what is none is passed over, as in k6.
fn clear(ctx: &Ctx<'_>, seat: &Seat, timer: Option<&Value<'_>>) -> Result<()> {
    let number = timer.and_then(Value::as_number).filter(|number| *number >= 1.0 && *number <= f64::from(u32::MAX));
    let Some(number) = number.filter(|number| number.fract() == 0.0) else { return Ok(()) };
    let ticket = Ticket(number as u32);
    if seat.events.is_timer(ticket) { event_loop::cancel(ctx, seat, ticket) } else { Ok(()) }
}
