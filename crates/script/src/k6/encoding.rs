//! `k6/encoding`: base64 in the alphabets that k6 knows.

use std::rc::Rc;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, NO_PAD, PAD};
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
    let function = |ctx: Ctx<'js>, input: Opt<Value<'js>>, variant: Opt<Value<'js>>, format: Opt<Value<'js>>| {
        let input = input.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
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
    let packed = if input.is_undefined() || input.is_null() { String::new() } else { text(input)? };
    let packed: String = packed.chars().filter(|letter| !matches!(letter, '\r' | '\n')).collect();
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
    let (alphabet, config) = match named.as_deref() {
        Some("rawstd") => (&alphabet::STANDARD, NO_PAD),
        Some("url") => (&alphabet::URL_SAFE, PAD),
        Some("rawurl") => (&alphabet::URL_SAFE, NO_PAD),
        _ => (&alphabet::STANDARD, PAD),
    };
    Ok(GeneralPurpose::new(alphabet, lenient(config)))
}

/// Bits behind the last byte mean nothing, as in k6.
fn lenient(config: GeneralPurposeConfig) -> GeneralPurposeConfig {
    config.with_decode_allow_trailing_bits(true)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const VARIANTS: [(&alphabet::Alphabet, GeneralPurposeConfig); 4] = [
        (&alphabet::STANDARD, PAD),
        (&alphabet::STANDARD, NO_PAD),
        (&alphabet::URL_SAFE, PAD),
        (&alphabet::URL_SAFE, NO_PAD),
    ];

    proptest! {
        #[test]
        fn every_variant_gives_back_what_it_was_given(bytes in prop::collection::vec(any::<u8>(), 0..80), variant in 0usize..4) {
            let (alphabet, config) = VARIANTS[variant];
            let engine = GeneralPurpose::new(alphabet, lenient(config));
            prop_assert_eq!(engine.decode(engine.encode(&bytes)).unwrap(), bytes);
        }
    }
}
