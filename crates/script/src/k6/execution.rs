//! `k6/execution`: numbers and names of the user who asks, and `test.abort`.

use std::rc::Rc;

use engine::user::Ending;
use rquickjs::function::Opt;
use rquickjs::{Ctx, Function, IntoJs, Object, Result, Value};

use super::Builtin;
use crate::host::{Host, Seat, text};
use crate::native;
use crate::realm::evaluate_own;

pub(super) const MODULE: Builtin =
    Builtin { name: "k6/execution", exports: &["instance", "scenario", "test", "vu"], make };

fn make<'js>(ctx: &Ctx<'js>, host: &Rc<Host>) -> Result<Object<'js>> {
    let of = host.clone();
    let read = move |ctx: Ctx<'js>, name: String| {
        let seat = of.seat_in_iteration(&ctx, &format!("reading {name} of k6/execution"))?;
        read(&ctx, &of, &seat, &name)
    };
    let of = host.clone();
    let lack = move |ctx: Ctx<'js>, name: String| -> Result<()> {
        Err(of.seat().unsupported(&ctx, &format!("k6/execution: {name} is not supported yet")))
    };
    let of = host.clone();
    let abort = move |ctx: Ctx<'js>, reason: Opt<Value<'js>>| -> Result<()> {
        let reason = reason.0.filter(|reason| !reason.is_undefined());
        let reason = reason.as_ref().map(text).transpose()?.unwrap_or_default();
        of.seat().ending.replace(Some(Ending::Aborted(reason)));
        Err(native::unwind(&ctx))
    };
    let (read, abort) = (Function::new(ctx.clone(), read)?, Function::new(ctx.clone(), abort)?);
    let lack = Function::new(ctx.clone(), lack)?;
    let module = evaluate_own(ctx, "k6/execution.js", include_str!("execution.js"))?;
    module.as_function().expect("execution.js is a function").call((read, abort, lack))
}

fn read<'js>(ctx: &Ctx<'js>, host: &Host, seat: &Seat, name: &str) -> Result<Value<'js>> {
    let scenario = || seat.assignment.borrow().as_ref().map(|assignment| assignment.scenario.clone());
    let executor = || {
        let scenario = scenario()?;
        let found = host.meter.plan().scenarios.iter().find(|known| known.name == scenario)?;
        let json = serde_json::to_value(&found.executor).ok()?;
        json.get("executor")?.as_str().map(str::to_owned)
    };
    let number = |number: u64| Value::new_number(ctx.clone(), number as f64);
    match name {
        "vu.idInTest" if seat.vu > 0 => Ok(number(host.meter.plan().segment.item(u64::from(seat.vu) - 1) + 1)),
        "vu.idInTest" | "vu.idInInstance" => Ok(number(seat.vu.into())),
        "test.options" => {
            let options = host.world.options.lock().expect("nobody panics holding it").clone();
            options.map_or_else(|| "{}".to_owned(), |options| options.all.clone()).into_js(ctx)
        }
        "vu.iterationInInstance" => Ok(number(seat.begun.get().saturating_sub(1))),
        "vu.iterationInScenario" => Ok(number(seat.begun_in_scenario.get().saturating_sub(1))),
        "scenario.name" => scenario().into_js(ctx),
        "scenario.executor" => executor().into_js(ctx),
        "scenario.iterationInTest" => Ok(number(host.meter.plan().segment.item(seat.iteration_in_test.get()))),
        "scenario.iterationInInstance" => Ok(number(seat.iteration_in_test.get())),
        _ => Err(seat.unsupported(ctx, &format!("k6/execution: {name} is not supported yet"))),
    }
}
