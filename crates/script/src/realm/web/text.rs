//! `TextEncoder` and `TextDecoder`.

use encoding_rs::{Encoding, UTF_8};
use rquickjs::function::Opt;
use rquickjs::{Ctx, Exception, Function, Object, Result, TypedArray, Value};

use super::{Family, buffer, given};
use crate::host::text;
use crate::realm::evaluate_own;

pub(super) const FAMILY: Family = Family { names: &["TextEncoder", "TextDecoder"], make };

fn make<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    let encode = |ctx: Ctx<'js>, value: Opt<Value<'js>>| -> Result<TypedArray<'js, u8>> {
        let text = given(value).as_ref().map(text).transpose()?.unwrap_or_default();
        TypedArray::new(ctx, text.into_bytes())
    };
    native.set("encode", Function::new(ctx.clone(), encode)?)?;
    // The standard's name of an encoding.
    let label = |label: String| -> Option<String> {
        Encoding::for_label_no_replacement(label.as_bytes()).map(|encoding| encoding.name().to_ascii_lowercase())
    };
    native.set("label", Function::new(ctx.clone(), label)?)?;
    let decode =
        |ctx: Ctx<'js>, name: String, bytes: Opt<Value<'js>>, is_fatal: bool, keeps_mark: bool| -> Result<String> {
            let bytes = given(bytes).map(|bytes| buffer(&ctx, "decode()", &bytes)).transpose()?.unwrap_or_default();
            let encoding = Encoding::for_label(name.as_bytes()).unwrap_or(UTF_8);
            let (text, is_broken) = if keeps_mark {
                encoding.decode_without_bom_handling(&bytes)
            } else {
                encoding.decode_with_bom_removal(&bytes)
            };
            if is_broken && is_fatal {
                return Err(Exception::throw_type(&ctx, &format!("decode(): the bytes are not valid {name}")));
            }
            Ok(text.into_owned())
        };
    native.set("decode", Function::new(ctx.clone(), decode)?)?;
    // How many bytes at the end may be the beginning of a character.
    let rest = |ctx: Ctx<'js>, name: String, bytes: Value<'js>| -> Result<usize> {
        Ok(incomplete(&name, &buffer(&ctx, "decode()", &bytes)?))
    };
    native.set("rest", Function::new(ctx.clone(), rest)?)?;
    let make = evaluate_own(ctx, "web/text.js", include_str!("text.js"))?;
    make.as_function().expect("text.js is a function").call((native,))
}

/// Bytes at the end that more bytes may complete to a character.
fn incomplete(name: &str, bytes: &[u8]) -> usize {
    match name {
        "utf-8" => {
            let end = bytes.len();
            let lead = (1..=3.min(end)).find(|back| bytes[end - back] & 0xC0 != 0x80);
            let Some(back) = lead else { return 0 };
            let needs = match bytes[end - back] {
                0xC2..=0xDF => 2,
                0xE0..=0xEF => 3,
                0xF0..=0xF4 => 4,
                _ => 1,
            };
            if needs > back { back } else { 0 }
        }
        "utf-16le" | "utf-16be" => {
            let odd = bytes.len() % 2;
            let whole = &bytes[..bytes.len() - odd];
            let high = whole.len().checked_sub(if name == "utf-16le" { 1 } else { 2 });
            let is_half = high.is_some_and(|at| (0xD8..=0xDB).contains(&whole[at]));
            odd + if is_half { 2 } else { 0 }
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_go_on_is_kept() {
        let euro = "€".as_bytes();
        assert_eq!(incomplete("utf-8", euro), 0);
        assert_eq!((incomplete("utf-8", &euro[..2]), incomplete("utf-8", &euro[..1])), (2, 1));
        assert_eq!((incomplete("utf-8", b"a"), incomplete("utf-8", b"\xff"), incomplete("utf-8", b"")), (0, 0, 0));
        assert_eq!(incomplete("utf-16le", &[0x3D, 0xD8]), 2);
        assert_eq!(incomplete("utf-16be", &[0xD8, 0x3D, 0xDE]), 3);
        assert_eq!(incomplete("windows-1252", &[0xff]), 0);
    }
}
