//! `k6/execution`: numbers and names of the user who asks, its tags, how far the run is, `test.abort` and `test.fail`.

use std::rc::Rc;

use engine::user::Ending;
use model::plan::{Executor, Scenario};
use model::record::Level;
use rquickjs::function::Opt;
use rquickjs::{Ctx, Exception, Function, IntoJs, Object, Result, Value};

use super::Builtin;
use crate::host::{Host, Seat, scalar, text};
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
    let abort = move |ctx: Ctx<'js>, reason: Opt<Value<'js>>| -> Result<()> {
        let reason = reason.0.filter(|reason| !reason.is_undefined());
        let reason = reason.as_ref().map(text).transpose()?.unwrap_or_default();
        of.seat().ending.replace(Some(Ending::Aborted(reason)));
        Err(native::unwind(&ctx))
    };
    let of = host.clone();
    let fail = move |ctx: Ctx<'js>, reason: Opt<Value<'js>>| -> Result<()> {
        of.seat_in_iteration(&ctx, "test.fail() of k6/execution")?;
        let reason = reason.0.filter(|reason| !reason.is_undefined()).as_ref().map(text).transpose()?;
        let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
        of.meter.log(Level::Error, format!("test marked as failed{reason}"));
        of.meter.progress().mark_failed();
        Ok(())
    };
    let of = host.clone();
    let options = move |ctx: Ctx<'js>| -> Result<String> {
        of.seat_in_iteration(&ctx, "reading test.options of k6/execution")?;
        let options = of.world.options.lock().expect("nobody panics holding it").clone();
        Ok(options.map_or_else(|| "{}".to_owned(), |options| options.all.clone()))
    };
    let functions = (
        Function::new(ctx.clone(), read)?,
        Function::new(ctx.clone(), abort)?.with_name("abort")?,
        Function::new(ctx.clone(), fail)?.with_name("fail")?,
        tags(ctx, host)?,
        metadata(ctx, host)?,
        Function::new(ctx.clone(), options)?,
    );
    let module = evaluate_own(ctx, "k6/execution.js", include_str!("execution.js"))?;
    module.as_function().expect("execution.js is a function").call(functions)
}

fn read<'js>(ctx: &Ctx<'js>, host: &Host, seat: &Seat, name: &str) -> Result<Value<'js>> {
    let scenario = || -> Result<(usize, &Scenario)> {
        let number = seat.assignment.borrow().as_ref().map_or(usize::MAX, |assignment| assignment.number);
        let known = host.meter.plan().scenarios.get(number).map(|scenario| (number, scenario));
        known.ok_or_else(|| {
            let message = format!("{name} of k6/execution: setup() and teardown() belong to no scenario");
            Exception::throw_type(ctx, &message)
        })
    };
    let number = |number: f64| Ok(Value::new_number(ctx.clone(), number));
    let progress = host.meter.progress();
    match name {
        "vu.idInTest" if seat.vu > 0 => number((host.meter.plan().segment.item(u64::from(seat.vu) - 1) + 1) as f64),
        "vu.idInTest" | "vu.idInInstance" => number(seat.vu.into()),
        "vu.iterationInInstance" => number(seat.begun.get().saturating_sub(1) as f64),
        "vu.iterationInScenario" => number(seat.begun_in_scenario.get().saturating_sub(1) as f64),
        "scenario.name" => {
            let name =
                seat.assignment.borrow().as_ref().map_or(String::new(), |assignment| assignment.scenario.clone());
            if name.is_empty() { scenario()?.1.name.as_str().into_js(ctx) } else { name.into_js(ctx) }
        }
        "scenario.executor" => {
            let json = serde_json::to_value(&scenario()?.1.executor).unwrap_or_default();
            json.get("executor").and_then(|name| name.as_str()).into_js(ctx)
        }
        "scenario.iterationInTest" => number(host.meter.plan().segment.item(seat.iteration_in_test.get()) as f64),
        "scenario.iterationInInstance" => number(seat.iteration_in_test.get() as f64),
        // How long ago it began, in milliseconds.
        "scenario.startTime" => {
            let (_, scenario) = scenario()?;
            number((progress.load_time().as_secs_f64() - scenario.start_time.as_secs_f64()) * 1e3)
        }
        "scenario.progress" => scenario().and_then(|scenario| number(done(host, scenario))),
        "instance.currentTestRunDuration" => number(progress.run_time().as_secs_f64() * 1e3),
        "instance.iterationsCompleted" => number(progress.counted().completed as f64),
        "instance.iterationsInterrupted" => number(progress.counted().interrupted as f64),
        "instance.vusActive" => number(progress.counted().active.into()),
        "instance.vusInitialized" => number(progress.counted().made.into()),
        _ => Ok(Value::new_undefined(ctx.clone())),
    }
}

/// Which share of a scenario is done: of its iterations where it counts them, else of its time.
fn done(host: &Host, (number, scenario): (usize, &Scenario)) -> f64 {
    let progress = host.meter.progress();
    let share = match &scenario.executor {
        Executor::SharedIterations { iterations, .. } => progress.completed_in(number) as f64 / *iterations as f64,
        Executor::PerVuIterations { vus, iterations, .. } => {
            progress.completed_in(number) as f64 / (f64::from(*vus) * *iterations as f64)
        }
        other => {
            let since = progress.load_time().saturating_sub(scenario.start_time);
            other.duration().map_or(0.0, |length| since.as_secs_f64() / length.as_secs_f64())
        }
    };
    if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
}

/// The tags of the user who asks, as functions of `execution.js`.
fn tags<'js>(ctx: &Ctx<'js>, host: &Rc<Host>) -> Result<Object<'js>> {
    let functions = Object::new(ctx.clone())?;
    let of = host.clone();
    let get = move |key: String| -> Option<String> {
        let seat = of.seat();
        let value = of.meter.tag(seat.tags.get(), &key).map(|value| value.to_string());
        // Outside of groups there is no such tag on samples, and k6 shows an empty one.
        value.or_else(|| (key == "group").then(String::new))
    };
    functions.set("get", Function::new(ctx.clone(), get)?)?;
    let of = host.clone();
    let set = move |ctx: Ctx<'js>, key: String, value: Value<'js>| -> Result<()> {
        let value = scalar(&ctx, &format!("tag '{key}'"), &value)?;
        let seat = of.seat_in_iteration(&ctx, "setting a tag")?;
        of.retag(&seat, &key, &value);
        Ok(())
    };
    functions.set("set", Function::new(ctx.clone(), set)?)?;
    let of = host.clone();
    let drop = move |ctx: Ctx<'js>, key: String| -> Result<()> {
        let seat = of.seat_in_iteration(&ctx, "deleting a tag")?;
        of.retag(&seat, &key, "");
        Ok(())
    };
    functions.set("drop", Function::new(ctx.clone(), drop)?)?;
    let of = host.clone();
    let list = move || -> Vec<String> {
        let tags = of.meter.all_tags(of.seat().tags.get());
        let mut names: Vec<_> = tags.iter().map(|(key, _)| key.to_string()).collect();
        if !names.iter().any(|name| name == "group") {
            names.push("group".to_owned());
        }
        names
    };
    functions.set("list", Function::new(ctx.clone(), list)?)?;
    Ok(functions)
}

/// The metadata of the user who asks, as functions of `execution.js`.
fn metadata<'js>(ctx: &Ctx<'js>, host: &Rc<Host>) -> Result<Object<'js>> {
    let functions = Object::new(ctx.clone())?;
    let of = host.clone();
    let get = move |key: String| -> Option<String> { of.seat().metadata.borrow().get(&key).cloned() };
    functions.set("get", Function::new(ctx.clone(), get)?)?;
    let of = host.clone();
    let set = move |ctx: Ctx<'js>, key: String, value: Value<'js>| -> Result<()> {
        let value = scalar(&ctx, &format!("metadata '{key}'"), &value)?;
        of.seat_in_iteration(&ctx, "setting metadata")?.metadata.borrow_mut().insert(key, value);
        Ok(())
    };
    functions.set("set", Function::new(ctx.clone(), set)?)?;
    let of = host.clone();
    let drop = move |key: String| {
        of.seat().metadata.borrow_mut().remove(&key);
    };
    functions.set("drop", Function::new(ctx.clone(), drop)?)?;
    let of = host.clone();
    let list = move || -> Vec<String> { of.seat().metadata.borrow().keys().cloned().collect() };
    functions.set("list", Function::new(ctx.clone(), list)?)?;
    Ok(functions)
}
