//! `k6`: check, group, sleep, fail, randomSeed.

use std::rc::Rc;

use engine::user::Ask;
use model::metric::MetricId;
use rquickjs::function::Opt;
use rquickjs::{Coerced, Ctx, Exception, Function, Object, Result, Value};

use super::Builtin;
use crate::event_loop;
use crate::host::{Host, text};
use crate::native;
use crate::realm::evaluate_own;

pub(super) const MODULE: Builtin =
    Builtin { name: "k6", exports: &["check", "fail", "group", "randomSeed", "sleep"], make };

fn make<'js>(ctx: &Ctx<'js>, host: &Rc<Host>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    let of = host.clone();
    let function = move |ctx: Ctx<'js>, value: Opt<Value<'js>>, checks: Opt<Value<'js>>, tags: Opt<Value<'js>>| {
        let undefined = || Value::new_undefined(ctx.clone());
        let given = value.0.unwrap_or_else(undefined);
        check(&ctx, &of, &given, &checks.0.unwrap_or_else(undefined), &tags.0.unwrap_or_else(undefined))
    };
    module.set("check", Function::new(ctx.clone(), function)?.with_name("check")?)?;
    let of = host.clone();
    let function = move |ctx: Ctx<'js>, name: Coerced<String>, body: Value<'js>| group(&ctx, &of, &name.0, &body);
    module.set("group", Function::new(ctx.clone(), function)?.with_name("group")?)?;
    let of = host.clone();
    let function = move |ctx: Ctx<'js>, seconds: Opt<Coerced<f64>>| sleep(&ctx, &of, seconds.0.map_or(0.0, |s| s.0));
    module.set("sleep", Function::new(ctx.clone(), function)?.with_name("sleep")?)?;
    let fail = |ctx: Ctx<'js>, message: Opt<Value<'js>>| fail(&ctx, message.0.as_ref());
    module.set("fail", Function::new(ctx.clone(), fail)?.with_name("fail")?)?;
    module.set("randomSeed", evaluate_own(ctx, "k6/random.js", include_str!("random.js"))?)?;
    Ok(module)
}

/// Judges `value` by each of `checks` in turn. One that throws has failed, and the rest is not looked at.
fn check<'js>(ctx: &Ctx<'js>, host: &Host, value: &Value<'js>, checks: &Value<'js>, tags: &Value<'js>) -> Result<bool> {
    let seat = host.seat_in_iteration(ctx, "check()")?;
    let Some(checks) = checks.as_object() else {
        return Err(Exception::throw_type(ctx, "check() needs an object of checks"));
    };
    let tags = host.script_tags(ctx, seat.tags.get(), tags)?;
    let mut all_passed = true;
    for pair in checks.props::<String, Value<'js>>() {
        let (name, judge) = pair?;
        refuse_separator(ctx, &name)?;
        let judged = match judge.as_function() {
            Some(function) => function.call::<_, Value<'js>>((value.clone(),)),
            None => Ok(judge),
        };
        let judged = judged.inspect_err(|_| {
            // Whatever ends the iteration from outside says nothing about the service.
            if !native::is_cancelled() && seat.ending.borrow().is_none() {
                host.meter.check(&name, false, tags);
            }
        })?;
        if judged.is_promise() {
            let message = format!("check '{name}' is an async function, which k6 does not support");
            return Err(Exception::throw_type(ctx, &message));
        }
        let passed = truth(&judged)?;
        host.meter.check(&name, passed, tags);
        all_passed &= passed;
    }
    Ok(all_passed)
}

fn truth(value: &Value<'_>) -> Result<bool> {
    match value.as_bool() {
        Some(truth) => Ok(truth),
        None => value.get::<Coerced<bool>>().map(|truth| truth.0),
    }
}

/// Runs `body` with the `group` tag.
fn group<'js>(ctx: &Ctx<'js>, host: &Host, name: &str, body: &Value<'js>) -> Result<Value<'js>> {
    let seat = host.seat_in_iteration(ctx, "group()")?;
    refuse_separator(ctx, name)?;
    let Some(body) = body.as_function() else {
        return Err(Exception::throw_type(ctx, "group() needs a name and a function"));
    };
    let kind: Option<Coerced<String>> = body.get(rquickjs::atom::PredefinedAtom::SymbolToStringTag)?;
    if kind.is_some_and(|kind| kind.0 == "AsyncFunction") {
        return Err(Exception::throw_type(
            ctx,
            &format!("group '{name}' is an async function, which k6 does not support"),
        ));
    }
    let outer = (seat.group.borrow().clone(), seat.tags.get());
    let path: Rc<str> = format!("{}::{name}", outer.0).into();
    let root = seat.root_tags.get();
    let tags = host.group_tags(root, &path);
    seat.group.replace(path);
    seat.tags.set(tags);
    let now = || host.world.clock.as_ref().map(|clock| clock());
    let began = now();
    let result = body.call(());
    // What the body set as tags of the user stays set.
    seat.tags.set(if seat.root_tags.get() == root { outer.1 } else { host.tags_in(seat.root_tags.get(), &outer.0) });
    seat.group.replace(outer.0);
    if let (Some(began), Some(ended)) = (began, now())
        && !native::is_cancelled()
    {
        let duration_ms = ended.saturating_sub(began).as_secs_f64() * 1e3;
        host.meter.add(MetricId::GROUP_DURATION, duration_ms, tags);
    }
    result
}

fn refuse_separator(ctx: &Ctx<'_>, name: &str) -> Result<()> {
    if name.contains("::") {
        let message = format!("'{name}': names of groups and checks may not contain '::'");
        return Err(Exception::throw_message(ctx, &message));
    }
    Ok(())
}

fn sleep(ctx: &Ctx<'_>, host: &Host, seconds: f64) -> Result<()> {
    host.seat_in_iteration(ctx, "sleep()")?;
    native::ask(ctx, Ask::Sleep(event_loop::wait_of(seconds))).map(drop)
}

fn fail(ctx: &Ctx<'_>, message: Option<&Value<'_>>) -> Result<()> {
    let message = message.map(text).transpose()?.unwrap_or_default();
    Err(Exception::throw_message(ctx, &message))
}
