//! `k6/crypto/x509`: what certificates say. Verifies nothing.

use std::rc::Rc;

use rquickjs::function::Opt;
use rquickjs::{Ctx, Exception, Function, Object, Result, Value};
use serde_json::{Value as Json, json};
use sha1::Digest as _;
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::FromDer;
use x509_parser::public_key::PublicKey;
use x509_parser::time::ASN1Time;
use x509_parser::x509::X509Name;

use super::Builtin;
use crate::host::{Host, text};

pub(super) const MODULE: Builtin =
    Builtin { name: "k6/crypto/x509", exports: &["getAltNames", "getIssuer", "getSubject", "parse"], make };

fn make<'js>(ctx: &Ctx<'js>, _: &Rc<Host>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    let function = |ctx: Ctx<'js>, pem: Opt<Value<'js>>| with(&ctx, pem.0, parse);
    module.set("parse", Function::new(ctx.clone(), function)?.with_name("parse")?)?;
    let function = |ctx: Ctx<'js>, pem: Opt<Value<'js>>| with(&ctx, pem.0, |ctx, one| value(ctx, &alternatives(one)));
    module.set("getAltNames", Function::new(ctx.clone(), function)?.with_name("getAltNames")?)?;
    let function = |ctx: Ctx<'js>, pem: Opt<Value<'js>>| with(&ctx, pem.0, |ctx, one| value(ctx, &issuer(one)));
    module.set("getIssuer", Function::new(ctx.clone(), function)?.with_name("getIssuer")?)?;
    let function = |ctx: Ctx<'js>, pem: Opt<Value<'js>>| with(&ctx, pem.0, |ctx, one| value(ctx, &subject(one)));
    module.set("getSubject", Function::new(ctx.clone(), function)?.with_name("getSubject")?)?;
    Ok(module)
}

/// Reads the first certificate of a PEM text.
fn with<'js, T>(
    ctx: &Ctx<'js>,
    pem: Option<Value<'js>>,
    read: impl FnOnce(&Ctx<'js>, &X509Certificate<'_>) -> Result<T>,
) -> Result<T> {
    let wrong = |why: &str| Exception::throw_message(ctx, &format!("cannot read the certificate: {why}"));
    let pem = pem.filter(Value::is_string).ok_or_else(|| wrong("a text in PEM form is expected"))?;
    let pem = text(&pem)?;
    let (_, block) =
        x509_parser::pem::parse_x509_pem(pem.as_bytes()).map_err(|_| wrong("the text is not in PEM form"))?;
    let (_, certificate) =
        X509Certificate::from_der(&block.contents).map_err(|error| wrong(&format!("it is malformed ({error})")))?;
    read(ctx, &certificate)
}

fn value<'js>(ctx: &Ctx<'js>, json: &Json) -> Result<Value<'js>> {
    ctx.json_parse(json.to_string())
}

fn parse<'js>(ctx: &Ctx<'js>, certificate: &X509Certificate<'_>) -> Result<Value<'js>> {
    let (der, validity) = (certificate.as_raw(), certificate.validity());
    let all = json!({
        "subject": subject(certificate),
        "issuer": issuer(certificate),
        "notBefore": moment(&validity.not_before),
        "notAfter": moment(&validity.not_after),
        "altNames": alternatives(certificate),
        "signatureAlgorithm": signature(&certificate.signature_algorithm.algorithm.to_id_string()),
        "fingerPrint": sha1::Sha1::digest(der).to_vec(),
    });
    let object = value(ctx, &all)?.into_object().expect("it is an object");
    object.set("publicKey", public_key(ctx, certificate)?)?;
    Ok(object.into_value())
}

fn moment(time: &ASN1Time) -> String {
    let time = time.to_datetime();
    let (year, month, day) = (time.year(), u8::from(time.month()), time.day());
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", time.hour(), time.minute(), time.second())
}

/// Object identifiers of the parts of names that k6 shows by name.
const COUNTRY: &str = "2.5.4.6";
const STATE: &str = "2.5.4.8";
const LOCALITY: &str = "2.5.4.7";
const ORGANIZATION: &str = "2.5.4.10";
const UNIT: &str = "2.5.4.11";
const COMMON_NAME: &str = "2.5.4.3";
const POSTAL_CODE: &str = "2.5.4.17";
const STREET: &str = "2.5.4.9";

/// All parts of a name: identifier and text.
fn parts(name: &X509Name<'_>) -> Vec<(String, String)> {
    let attributes = name.iter_attributes();
    attributes.map(|one| (one.attr_type().to_id_string(), one.as_str().unwrap_or_default().to_owned())).collect()
}

fn names(parts: &[(String, String)]) -> Json {
    parts.iter().map(|(kind, value)| json!({ "type": kind, "value": value })).collect()
}

/// The first part of this kind; k6 shows what is missing as an empty text.
fn first<'a>(parts: &'a [(String, String)], kind: &str) -> &'a str {
    parts.iter().find(|(known, _)| known == kind).map_or("", |(_, value)| value)
}

fn subject(certificate: &X509Certificate<'_>) -> Json {
    let parts = parts(certificate.subject());
    let units: Vec<_> = parts.iter().filter(|(kind, _)| kind == UNIT).map(|(_, value)| value).collect();
    json!({
        "commonName": first(&parts, COMMON_NAME),
        "country": first(&parts, COUNTRY),
        "postalCode": first(&parts, POSTAL_CODE),
        "stateOrProvinceName": first(&parts, STATE),
        "localityName": first(&parts, LOCALITY),
        "streetAddress": first(&parts, STREET),
        "organizationName": first(&parts, ORGANIZATION),
        "organizationalUnitName": units,
        "names": names(&parts),
    })
}

fn issuer(certificate: &X509Certificate<'_>) -> Json {
    let parts = parts(certificate.issuer());
    json!({
        "commonName": first(&parts, COMMON_NAME),
        "country": first(&parts, COUNTRY),
        "stateOrProvinceName": first(&parts, STATE),
        "localityName": first(&parts, LOCALITY),
        "organizationName": first(&parts, ORGANIZATION),
        "names": names(&parts),
    })
}

/// Other names of the subject, in k6's order: hosts, mail addresses, IP addresses, URLs.
fn alternatives(certificate: &X509Certificate<'_>) -> Json {
    let extension = certificate.subject_alternative_name().ok().flatten();
    let all = extension.map_or(&[][..], |extension| extension.value.general_names.as_slice());
    let named = all.iter().filter_map(|name| match name {
        GeneralName::DNSName(name) => Some((0, (*name).to_owned())),
        GeneralName::RFC822Name(name) => Some((1, (*name).to_owned())),
        GeneralName::IPAddress(bytes) => Some((2, address(bytes)?)),
        GeneralName::URI(name) => Some((3, (*name).to_owned())),
        _ => None,
    });
    let mut named: Vec<_> = named.collect();
    named.sort_by_key(|(kind, _)| *kind);
    named.into_iter().map(|(_, name)| name).collect()
}

fn address(bytes: &[u8]) -> Option<String> {
    let address: std::net::IpAddr = match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes).ok()?.into(),
        16 => <[u8; 16]>::try_from(bytes).ok()?.into(),
        _ => return None,
    };
    Some(address.to_string())
}

/// k6's name of a signature algorithm; its identifier where there is none.
fn signature(identifier: &str) -> &str {
    match identifier {
        "1.2.840.113549.1.1.4" => "MD5-RSA",
        "1.2.840.113549.1.1.5" => "SHA1-RSA",
        "1.2.840.113549.1.1.11" => "SHA256-RSA",
        "1.2.840.113549.1.1.12" => "SHA384-RSA",
        "1.2.840.113549.1.1.13" => "SHA512-RSA",
        "1.2.840.10045.4.1" => "ECDSA-SHA1",
        "1.2.840.10045.4.3.2" => "ECDSA-SHA256",
        "1.2.840.10045.4.3.3" => "ECDSA-SHA384",
        "1.2.840.10045.4.3.4" => "ECDSA-SHA512",
        other => other,
    }
}

/// The numbers of a public key.
fn public_key<'js>(ctx: &Ctx<'js>, certificate: &X509Certificate<'_>) -> Result<Object<'js>> {
    let unknown = || {
        let algorithm = &certificate.public_key().algorithm.algorithm;
        let message = format!("cannot read the certificate: its public key is neither RSA nor ECDSA ({algorithm})");
        Exception::throw_message(ctx, &message)
    };
    let key = Object::new(ctx.clone())?;
    let algorithm = match certificate.public_key().parsed().map_err(|_| unknown())? {
        PublicKey::RSA(rsa) => {
            key.set("n", big(ctx, rsa.modulus)?)?;
            key.set("e", rsa.try_exponent().map_err(|_| unknown())? as f64)?;
            "RSA"
        }
        PublicKey::EC(point) => {
            let half = point.data().len().saturating_sub(1) / 2;
            let (x, y) = point.data().get(1..).ok_or_else(unknown)?.split_at(half);
            key.set("curve", Object::new(ctx.clone())?)?;
            key.set("x", big(ctx, x)?)?;
            key.set("y", big(ctx, y)?)?;
            "ECDSA"
        }
        _ => return Err(unknown()),
    };
    let object = Object::new(ctx.clone())?;
    object.set("algorithm", algorithm)?;
    object.set("key", key)?;
    Ok(object)
}

/// A number of any size.
fn big<'js>(ctx: &Ctx<'js>, bytes: &[u8]) -> Result<Value<'js>> {
    let make: Function<'js> = ctx.globals().get("BigInt")?;
    make.call((format!("0x{}", super::crypto::hash::hex(bytes)),))
}
