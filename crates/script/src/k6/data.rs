//! `k6/data`: SharedArray. Elements are kept once, as JSON text, for all users of all workers.

use std::rc::Rc;
use std::sync::Arc;

use rquickjs::{Ctx, Exception, Function, Object, Result, Value};

use super::Builtin;
use crate::host::{Host, text};
use crate::realm::evaluate_own;

pub(super) const MODULE: Builtin = Builtin { name: "k6/data", exports: &["SharedArray"], make };

fn make<'js>(ctx: &Ctx<'js>, host: &Rc<Host>) -> Result<Object<'js>> {
    let of = host.clone();
    let load = move |ctx: Ctx<'js>, name: Value<'js>, make: Function<'js>| load(&ctx, &of, &name, &make);
    let load = Function::new(ctx.clone(), load)?;
    let module = evaluate_own(ctx, "k6/data.js", include_str!("data.js"))?;
    module.as_function().expect("data.js is a function").call((load,))
}

/// The array of this name; `make` is called if nobody has made it yet.
fn load<'js>(ctx: &Ctx<'js>, host: &Host, name: &Value<'js>, make: &Function<'js>) -> Result<Object<'js>> {
    host.in_init(ctx, "new SharedArray()")?;
    let name = text(name)?;
    if name.is_empty() {
        return Err(Exception::throw_type(ctx, "a SharedArray needs a name"));
    }
    let known = || host.world.arrays.lock().expect("no panic while the lock is held").get(&name).cloned();
    let elements = match known() {
        Some(elements) => elements,
        None => {
            // The script's function may make another array: the lock is not held meanwhile.
            let made: Arc<[String]> = make.call::<_, Vec<String>>(())?.into();
            let mut arrays = host.world.arrays.lock().expect("no panic while the lock is held");
            arrays.entry(name).or_insert(made).clone()
        }
    };
    self::elements(ctx, elements)
}

/// What `data.js` makes an array of.
pub(super) fn elements<'js>(ctx: &Ctx<'js>, elements: Arc<[String]>) -> Result<Object<'js>> {
    let array = Object::new(ctx.clone())?;
    array.set("length", elements.len())?;
    array.set("element", Function::new(ctx.clone(), move |index: usize| elements.get(index).cloned())?)?;
    Ok(array)
}
