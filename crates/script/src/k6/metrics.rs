//! `k6/metrics`: Counter, Gauge, Rate, Trend.

use std::rc::Rc;

use model::metric::{Contains, Metric, MetricId, MetricType, builtin_metrics};
use model::record::Level;
use rquickjs::function::Opt;
use rquickjs::{Coerced, Ctx, Exception, Function, Object, Result, Value};

use super::Builtin;
use crate::host::{Host, Phase, text};
use crate::realm::evaluate_own;

pub(super) const MODULE: Builtin =
    Builtin { name: "k6/metrics", exports: &["Counter", "Gauge", "Rate", "Trend"], make };

fn make<'js>(ctx: &Ctx<'js>, host: &Rc<Host>) -> Result<Object<'js>> {
    let of = host.clone();
    let create = move |ctx: Ctx<'js>, kind: String, name: Value<'js>, is_time: Opt<Value<'js>>| {
        let is_time = is_time.0.is_some_and(|value| value.as_bool() == Some(true));
        create(&ctx, &of, &kind, &name, if is_time { Contains::Time } else { Contains::Default })
    };
    let of = host.clone();
    let add = move |ctx: Ctx<'js>, id: u32, name: String, value: Opt<Value<'js>>, tags: Opt<Value<'js>>| {
        add(&ctx, &of, (MetricId(id), &name), value.0.as_ref(), tags.0)
    };
    let (create, add) = (Function::new(ctx.clone(), create)?, Function::new(ctx.clone(), add)?);
    let module = evaluate_own(ctx, "k6/metrics.js", include_str!("metrics.js"))?;
    module.as_function().expect("metrics.js is a function").call((create, add))
}

/// The id of a metric, which is new if this is the first run of the init code.
fn create(ctx: &Ctx<'_>, host: &Host, kind: &str, name: &Value<'_>, contains: Contains) -> Result<u32> {
    host.in_init(ctx, "creating a metric")?;
    let kind = match kind {
        "counter" => MetricType::Counter,
        "gauge" => MetricType::Gauge,
        "rate" => MetricType::Rate,
        _ => MetricType::Trend,
    };
    let name = text(name)?;
    if !is_name(&name) {
        let rule = "a letter or underscore, then 1 to 128 letters, digits or underscores";
        return Err(Exception::throw_message(ctx, &format!("invalid metric name '{name}': {rule} are expected")));
    }
    let Some(created) = &host.created else {
        let hint = "it was not created in the first run of the init code, in which __VU is 0";
        let missing = || Exception::throw_message(ctx, &format!("metric '{name}' is unknown: {hint}"));
        let id = host.meter.metric(&name).ok_or_else(missing)?;
        return match &host.meter.plan().metrics[id.0 as usize] {
            metric if (metric.kind, metric.contains) == (kind, contains) => Ok(id.0),
            _ => Err(of_another_type(ctx, &name)),
        };
    };
    let mut created = created.borrow_mut();
    let builtin = builtin_metrics();
    let mut known = builtin.iter().chain(created.iter()).enumerate();
    let id = match known.find(|(_, metric)| metric.name == name) {
        Some((_, metric)) if (metric.kind, metric.contains) != (kind, contains) => {
            return Err(of_another_type(ctx, &name));
        }
        Some((id, _)) => id,
        None => {
            created.push(Metric::new(name, kind, contains));
            builtin.len() + created.len() - 1
        }
    };
    Ok(u32::try_from(id).expect("few metrics"))
}

fn of_another_type(ctx: &Ctx<'_>, name: &str) -> rquickjs::Error {
    Exception::throw_message(ctx, &format!("metric '{name}' already exists, with another type"))
}

fn is_name(name: &str) -> bool {
    let is_start = |c: char| c.is_ascii_alphabetic() || c == '_';
    (2..=129).contains(&name.len())
        && name.starts_with(is_start)
        && name.chars().all(|c| is_start(c) || c.is_ascii_digit())
}

/// Adds a sample. What is no number is refused: with a warning, or by throwing if the options say so.
fn add<'js>(
    ctx: &Ctx<'js>,
    host: &Host,
    (metric, name): (MetricId, &str),
    value: Option<&Value<'js>>,
    tags: Option<Value<'js>>,
) -> Result<bool> {
    let seat = host.seat();
    if seat.phase.get() == Phase::Init {
        host.seat_in_iteration(ctx, "adding to a metric")?;
    }
    let number = match value {
        Some(value) if value.is_number() => value.as_number(),
        Some(value) if value.is_bool() => value.as_bool().map(|truth| f64::from(u8::from(truth))),
        Some(value) if !value.is_null() && !value.is_undefined() => Some(value.get::<Coerced<f64>>()?.0),
        _ => None,
    };
    let Some(number) = number.filter(|number| !number.is_nan()) else {
        let given = value.map_or(Ok("nothing".to_owned()), text)?;
        let message = format!("'{given}' is not a number: it was not added to metric '{name}'");
        if host.meter.plan().http.throw {
            return Err(Exception::throw_type(ctx, &message));
        }
        host.meter.log(Level::Warn, message);
        return Ok(false);
    };
    let tags = match tags {
        Some(tags) => host.script_tags(ctx, seat.tags.get(), &tags)?,
        None => seat.tags.get(),
    };
    host.meter.add(metric, number, tags);
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_rule() {
        for good in ["ab", "_a", "A1_b", &"x".repeat(129)] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", "a", "1ab", "a-b", "a b", "ä_", &"x".repeat(130)] {
            assert!(!is_name(bad), "{bad}");
        }
    }
}
