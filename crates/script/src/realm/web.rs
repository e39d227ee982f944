//! Globals of the web platform: one family a file, made when a script of the realm first looks at one of them, for all
//! users of the realm. Whoever assigns to such a name has it for itself alone.

mod cipher;
mod clone;
mod curve;
mod derive;
mod rsa;
mod subtle;
mod text;
mod url;

use rquickjs::function::Opt;
use rquickjs::{Ctx, Exception, Function, Object, Result, Value};

use super::evaluate_own;

/// A family of globals.
struct Family {
    names: &'static [&'static str],
    /// Makes an object with a property for each name.
    make: for<'js> fn(&Ctx<'js>) -> Result<Object<'js>>,
}

/// All families.
const FAMILIES: &[&Family] = &[&url::FAMILY, &text::FAMILY, &clone::FAMILY, &subtle::FAMILY];

/// Lets the globals be found.
pub(super) fn install(ctx: &Ctx<'_>) -> Result<()> {
    let own = evaluate_own(ctx, "web.js", include_str!("web.js"))?;
    let own = own.as_function().expect("web.js is a function");
    for family in FAMILIES {
        define(ctx, own, family)?;
    }
    Ok(())
}

fn define<'js>(ctx: &Ctx<'js>, own: &Function<'js>, family: &'static Family) -> Result<()> {
    let make = Function::new(ctx.clone(), move |ctx: Ctx<'js>| (family.make)(&ctx))?;
    own.call((family.names.to_vec(), make))
}

/// The bytes of an ArrayBuffer or of a view of one.
///
/// # Errors
/// A TypeError that names `taker` for anything else.
fn buffer<'js>(ctx: &Ctx<'js>, taker: &str, value: &Value<'js>) -> Result<Vec<u8>> {
    if crate::native::is_binary(value) {
        return crate::native::copy_view(value);
    }
    let message = format!("{taker} takes an ArrayBuffer or a view of one, and was given {}", value.type_name());
    Err(Exception::throw_type(ctx, &message))
}

/// An optional argument that is there.
fn given<'js>(value: Opt<Value<'js>>) -> Option<Value<'js>> {
    value.0.filter(|value| !value.is_undefined())
}
