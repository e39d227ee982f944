//! `k6/crypto`: digests, with and without keys, and random bytes. (WebCrypto is in `realm/globals`.)

pub(crate) mod hash;

use std::cell::RefCell;
use std::rc::Rc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE, URL_SAFE_NO_PAD};
use rquickjs::function::Opt;
use rquickjs::{ArrayBuffer, Coerced, Ctx, Exception, Function, IntoJs, Object, Result, Value};

use super::Builtin;
use crate::host::{Host, text};
use crate::native;
use hash::{ALGORITHMS, Hash, hash, hex};

pub(super) const MODULE: Builtin = Builtin {
    name: "k6/crypto",
    exports: &[
        "createHash",
        "createHMAC",
        "hexEncode",
        "hmac",
        "md4",
        "md5",
        "randomBytes",
        "ripemd160",
        "sha1",
        "sha256",
        "sha384",
        "sha512",
        "sha512_224",
        "sha512_256",
    ],
    make,
};

/// Most random bytes at once, so that a slip does not take all memory.
const RANDOM_BYTES_MAX: f64 = 1024.0 * 1024.0 * 1024.0;

fn make<'js>(ctx: &Ctx<'js>, _: &Rc<Host>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    for &(name, new) in ALGORITHMS {
        let function = move |ctx: Ctx<'js>, data: Opt<Value<'js>>, encoding: Opt<Value<'js>>| {
            let mut hash = new(None);
            hash.update(&bytes(&ctx, &format!("{name}()"), data.0.as_ref())?);
            encoded(&ctx, hash.digest(), encoding.0.as_ref())
        };
        module.set(name, Function::new(ctx.clone(), function)?.with_name(name)?)?;
    }
    let function =
        |ctx: Ctx<'js>, name: Coerced<String>, key: Value<'js>, data: Value<'js>, encoding: Opt<Value<'js>>| {
            let key = bytes(&ctx, "hmac() as its key", Some(&key))?;
            let mut hash = named(&ctx, &name.0, Some(&key))?;
            hash.update(&bytes(&ctx, "hmac() as its data", Some(&data))?);
            encoded(&ctx, hash.digest(), encoding.0.as_ref())
        };
    module.set("hmac", Function::new(ctx.clone(), function)?.with_name("hmac")?)?;
    let function = |ctx: Ctx<'js>, name: Coerced<String>| hasher(&ctx, named(&ctx, &name.0, None)?);
    module.set("createHash", Function::new(ctx.clone(), function)?.with_name("createHash")?)?;
    let function = |ctx: Ctx<'js>, name: Coerced<String>, key: Value<'js>| {
        let key = bytes(&ctx, "createHMAC() as its key", Some(&key))?;
        hasher(&ctx, named(&ctx, &name.0, Some(&key))?)
    };
    module.set("createHMAC", Function::new(ctx.clone(), function)?.with_name("createHMAC")?)?;
    let function = |ctx: Ctx<'js>, data: Opt<Value<'js>>| Ok(hex(&bytes(&ctx, "hexEncode()", data.0.as_ref())?));
    module.set(
        "hexEncode",
        Function::new(ctx.clone(), function as fn(_, _) -> Result<String>)?.with_name("hexEncode")?,
    )?;
    let function = |ctx: Ctx<'js>, count: Opt<Coerced<f64>>| random_bytes(&ctx, count.0.map_or(0.0, |count| count.0));
    module.set("randomBytes", Function::new(ctx.clone(), function)?.with_name("randomBytes")?)?;
    Ok(module)
}

/// The object that `createHash` and `createHMAC` give.
fn hasher<'js>(ctx: &Ctx<'js>, hash: Box<dyn Hash>) -> Result<Object<'js>> {
    let hash = Rc::new(RefCell::new(hash));
    let object = Object::new(ctx.clone())?;
    let of = hash.clone();
    let update = move |ctx: Ctx<'js>, data: Opt<Value<'js>>| -> Result<()> {
        let bytes = bytes(&ctx, "update()", data.0.as_ref())?;
        of.borrow_mut().update(&bytes);
        Ok(())
    };
    object.set("update", Function::new(ctx.clone(), update)?.with_name("update")?)?;
    let digest = move |ctx: Ctx<'js>, encoding: Opt<Value<'js>>| {
        let digest = hash.borrow().digest();
        encoded(&ctx, digest, encoding.0.as_ref())
    };
    object.set("digest", Function::new(ctx.clone(), digest)?.with_name("digest")?)?;
    Ok(object)
}

fn named(ctx: &Ctx<'_>, name: &str, key: Option<&[u8]>) -> Result<Box<dyn Hash>> {
    hash(name, key).ok_or_else(|| {
        let known: Vec<_> = ALGORITHMS.iter().map(|(name, _)| *name).collect();
        Exception::throw_message(ctx, &format!("invalid algorithm '{name}': known are {}", known.join(", ")))
    })
}

/// The bytes of a text or of binary data.
fn bytes(ctx: &Ctx<'_>, taker: &str, value: Option<&Value<'_>>) -> Result<Vec<u8>> {
    match value {
        Some(value) if value.is_string() => text(value).map(String::into_bytes),
        Some(value) if native::is_binary(value) => native::copy_view(value),
        other => {
            let given = other.map_or("nothing", |value| value.type_name());
            let message = format!("{taker} takes a text, an ArrayBuffer or a typed array, and was given {given}");
            Err(Exception::throw_type(ctx, &message))
        }
    }
}

/// A digest in the encoding that a script names.
fn encoded<'js>(ctx: &Ctx<'js>, digest: Vec<u8>, encoding: Option<&Value<'js>>) -> Result<Value<'js>> {
    let encoding = encoding.filter(|one| !one.is_undefined() && !one.is_null()).map(text).transpose()?;
    match encoding.as_deref().unwrap_or_default() {
        "hex" => hex(&digest).into_js(ctx),
        "base64" => STANDARD.encode(digest).into_js(ctx),
        "base64url" => URL_SAFE.encode(digest).into_js(ctx),
        "base64rawurl" => URL_SAFE_NO_PAD.encode(digest).into_js(ctx),
        "binary" => ArrayBuffer::new(ctx.clone(), digest)?.into_js(ctx),
        other => {
            let known = "known are hex, base64, base64url, base64rawurl and binary";
            Err(Exception::throw_message(ctx, &format!("invalid output encoding '{other}': {known}")))
        }
    }
}

fn random_bytes<'js>(ctx: &Ctx<'js>, count: f64) -> Result<ArrayBuffer<'js>> {
    if !(1.0..=RANDOM_BYTES_MAX).contains(&count) {
        return Err(Exception::throw_message(ctx, "randomBytes() takes a number of bytes, 1 or more"));
    }
    ArrayBuffer::new(ctx.clone(), random(ctx, count as usize)?)
}

/// Bytes that nobody can foretell.
pub(crate) fn random(ctx: &Ctx<'_>, count: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; count];
    getrandom::fill(&mut bytes)
        .map_err(|error| Exception::throw_message(ctx, &format!("the system gives no random bytes: {error}")))?;
    Ok(bytes)
}
