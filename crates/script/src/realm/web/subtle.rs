//! `crypto`: random numbers and WebCrypto. The ciphers are native; algorithms, usages and formats of keys are judged in
//! `subtle.js`.

use rquickjs::{ArrayBuffer, Ctx, FromJs, Function, IntoJs, Object, Result, Value};

use super::cipher::{Terms, aes};
use super::{Family, buffer, curve, derive, rsa};
use crate::k6::crypto::hash::{digest, hash, hex};
use crate::k6::crypto::random;
use crate::realm::evaluate_own;

pub(super) const FAMILY: Family = Family { names: &["crypto", "CryptoKey"], make };

/// Bytes that cross the border: copied from any binary data, handed out as an ArrayBuffer.
struct Bytes(Vec<u8>);

impl<'js> FromJs<'js> for Bytes {
    fn from_js(ctx: &Ctx<'js>, value: Value<'js>) -> Result<Self> {
        buffer(ctx, "crypto", &value).map(Self)
    }
}

impl<'js> IntoJs<'js> for Bytes {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        ArrayBuffer::new(ctx.clone(), self.0)?.into_js(ctx)
    }
}

fn make<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    let set = |name: &str, function: Result<Function<'js>>| native.set(name, function?);
    let new = || ctx.clone();
    set("random", Function::new(new(), |ctx: Ctx<'js>, count: usize| random(&ctx, count).map(Bytes)))?;
    set("uuid", Function::new(new(), |ctx: Ctx<'js>| random(&ctx, 16).map(uuid)))?;
    set("digest", Function::new(new(), |name: String, data: Bytes| digest(&name, &data.0).map(Bytes)))?;
    let hmac = |name: String, key: Bytes, data: Bytes| {
        let mut hash = hash(&name, Some(&key.0))?;
        hash.update(&data.0);
        Some(Bytes(hash.digest()))
    };
    set("hmac", Function::new(new(), hmac))?;
    let cipher = |mode: String, encrypts: bool, key: Bytes, start: Bytes, additional: Bytes, bits: u32, data: Bytes| {
        let terms = Terms { encrypts, key: &key.0, start: &start.0, additional: &additional.0, bits };
        aes(&mode, &terms, data.0).map(Bytes)
    };
    set("aes", Function::new(new(), cipher))?;
    let pbkdf2 = |hash: String, password: Bytes, salt: Bytes, rounds: u32, length: usize| {
        derive::pbkdf2(&hash, &password.0, &salt.0, rounds, length).map(Bytes)
    };
    set("pbkdf2", Function::new(new(), pbkdf2))?;
    let hkdf = |hash: String, key: Bytes, salt: Bytes, info: Bytes, length: usize| {
        derive::hkdf(&hash, &key.0, &salt.0, &info.0, length).map(Bytes)
    };
    set("hkdf", Function::new(new(), hkdf))?;
    native.set("curve", curves(ctx)?)?;
    native.set("rsa", rsas(ctx)?)?;
    let make = evaluate_own(ctx, "web/subtle.js", include_str!("subtle.js"))?;
    make.as_function().expect("subtle.js is a function").call((native,))
}

/// Makes one form of a key of a curve of another.
type Convert = fn(&str, &[u8]) -> Option<Vec<u8>>;

fn curves<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    let set = |name: &str, function: Result<Function<'js>>| native.set(name, function?);
    let new = || ctx.clone();
    set("generate", Function::new(new(), |name: String| curve::generate(&name).map(Bytes)))?;
    let convert: [(&str, Convert); 5] = [
        ("publicOf", curve::public_of),
        ("point", curve::point),
        ("ofPoint", curve::of_point),
        ("number", curve::number),
        ("ofNumber", curve::of_number),
    ];
    for (name, convert) in convert {
        set(name, Function::new(new(), move |curve: String, data: Bytes| convert(&curve, &data.0).map(Bytes)))?;
    }
    let sign = |name: String, key: Bytes, digest: Bytes| curve::sign(&name, &key.0, &digest.0).map(Bytes);
    set("sign", Function::new(new(), sign))?;
    let verify = |name: String, key: Bytes, digest: Bytes, signature: Bytes| {
        curve::verify(&name, &key.0, &digest.0, &signature.0)
    };
    set("verify", Function::new(new(), verify))?;
    let agree = |name: String, private: Bytes, public: Bytes| curve::agree(&name, &private.0, &public.0).map(Bytes);
    set("agree", Function::new(new(), agree))?;
    Ok(native)
}

fn rsas<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    let set = |name: &str, function: Result<Function<'js>>| native.set(name, function?);
    let new = || ctx.clone();
    let out = |parts: Option<Vec<Vec<u8>>>| parts.map(|parts| parts.into_iter().map(Bytes).collect::<Vec<_>>());
    let take = |parts: Vec<Bytes>| parts.into_iter().map(|part| part.0).collect::<Vec<_>>();
    set("generate", Function::new(new(), |bits: usize, e: Bytes| rsa::generate(bits, &e.0).map(Bytes)))?;
    set("publicOf", Function::new(new(), |key: Bytes| rsa::public_of(&key.0).map(Bytes)))?;
    set("publicParts", Function::new(new(), move |key: Bytes| out(rsa::public_parts(&key.0))))?;
    set("privateParts", Function::new(new(), move |key: Bytes| out(rsa::private_parts(&key.0))))?;
    let of = move |parts: Vec<Bytes>| rsa::of_public_parts(&take(parts)).map(Bytes);
    set("ofPublicParts", Function::new(new(), of))?;
    let of = move |parts: Vec<Bytes>| rsa::of_private_parts(&take(parts)).map(Bytes);
    set("ofPrivateParts", Function::new(new(), of))?;
    let sign = |hash: String, salt: Option<usize>, key: Bytes, digest: Bytes| {
        rsa::sign(&hash, salt, &key.0, &digest.0).map(Bytes)
    };
    set("sign", Function::new(new(), sign))?;
    let verify = |hash: String, salt: Option<usize>, key: Bytes, digest: Bytes, signature: Bytes| {
        rsa::verify(&hash, salt, &key.0, &digest.0, &signature.0)
    };
    set("verify", Function::new(new(), verify))?;
    let encrypt =
        |hash: String, label: Bytes, key: Bytes, data: Bytes| rsa::encrypt(&hash, &label.0, &key.0, &data.0).map(Bytes);
    set("encrypt", Function::new(new(), encrypt))?;
    let decrypt =
        |hash: String, label: Bytes, key: Bytes, data: Bytes| rsa::decrypt(&hash, &label.0, &key.0, &data.0).map(Bytes);
    set("decrypt", Function::new(new(), decrypt))?;
    Ok(native)
}

/// A random UUID (version 4).
fn uuid(mut bytes: Vec<u8>) -> String {
    bytes[6] = (bytes[6] & 0x0F) | 0x40;
    bytes[8] = (bytes[8] & 0x3F) | 0x80;
    let text = hex(&bytes);
    [&text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..]].join("-")
}
