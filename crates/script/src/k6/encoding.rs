//! `k6/encoding`: base64 in the alphabets that k6 knows.

use std::rc::Rc;

use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use rquickjs::function::Opt;
use rquickjs::{ArrayBuffer, Ctx, Exception, Function, IntoJs, Object, Result, Value};

use super::Builtin;
use crate::host::{Host, text};
use crate::native;

pub(super) const MODULE: Builtin = Builtin { name: "k6/encoding", exports: &["b64encode", "b64decode"], make };

fn make<'js>(ctx: &Ctx<'js>, _: &Rc<Host>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    let function = |ctx: Ctx<'js>, input: Opt<Value<'js>>, variant: Opt<Value<'js>>| {
        let input = input.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
        encode(&ctx, &input, variant.0.as_ref())
    };
    module.set("b64encode", Function::new(ctx.clone(), function)?.with_name("b64encode")?)?;
    let function = |ctx: Ctx<'js>, input: Value<'js>, variant: Opt<Value<'js>>, format: Opt<Value<'js>>| {
        decode(&ctx, &input, variant.0.as_ref(), format.0.as_ref())
    };
    module.set("b64decode", Function::new(ctx.clone(), function)?.with_name("b64decode")?)?;
    Ok(module)
}

fn encode<'js>(ctx: &Ctx<'js>, input: &Value<'js>, variant: Option<&Value<'js>>) -> Result<String> {
    let bytes = match native::copy_bytes(input) {
        Some(bytes) => bytes,
        None if input.is_string() => text(input)?.into_bytes(),
        None => return Err(Exception::throw_type(ctx, "b64encode() takes a text, an ArrayBuffer or a Uint8Array")),
    };
    Ok(engine(variant)?.encode(bytes))
}

/// A text if `format` is `s`, else an ArrayBuffer. Line breaks mean nothing, as in k6.
fn decode<'js>(
    ctx: &Ctx<'js>,
    input: &Value<'js>,
    variant: Option<&Value<'js>>,
    format: Option<&Value<'js>>,
) -> Result<Value<'js>> {
    let packed: String = text(input)?.chars().filter(|letter| !matches!(letter, '\r' | '\n')).collect();
    let bytes = engine(variant)?.decode(packed);
    let bytes = bytes.map_err(|error| Exception::throw_message(ctx, &format!("b64decode(): {error}")))?;
    let format = format.filter(|format| !format.is_undefined()).map(text).transpose()?;
    match format.as_deref() {
        Some("s") => String::from_utf8_lossy(&bytes).into_js(ctx),
        _ => ArrayBuffer::new(ctx.clone(), bytes)?.into_js(ctx),
    }
}

/// The variant of this name; `std` for any other and for none, as in k6.
fn engine(variant: Option<&Value<'_>>) -> Result<GeneralPurpose> {
    let named = variant.filter(|variant| !variant.is_undefined()).map(text).transpose()?;
    Ok(match named.as_deref() {
        Some("rawstd") => STANDARD_NO_PAD,
        Some("url") => URL_SAFE,
        Some("rawurl") => URL_SAFE_NO_PAD,
        _ => STANDARD,
    })
}
