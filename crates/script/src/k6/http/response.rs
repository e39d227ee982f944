//! The response as scripts see it: fields are made when they are looked at, and cost nothing otherwise.

use std::rc::Rc;

use bytes::Bytes;
use engine::meter::Meter;
use engine::user::{Response, cookie_date};
use http::header::{COOKIE, SET_COOKIE, TRANSFER_ENCODING, USER_AGENT};
use http::{HeaderMap, Method, StatusCode};
use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::function::{Constructor, Opt, This};
use rquickjs::object::{Accessor, Property};
use rquickjs::{ArrayBuffer, Class, Ctx, Exception, Function, IntoJs, Object, Result, Value};

use super::request::Form;
use super::{append, gjson};
use crate::host::text;
use crate::native::{self, HeldBytes};

/// What `response.request` shows.
pub(super) struct Echo {
    pub(super) method: Method,
    pub(super) url: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// Knows what is sent unless the script's headers say otherwise.
    pub(super) meter: Rc<Meter>,
}

/// A response, held by an object of a script.
pub(crate) struct HttpResponse {
    response: Box<(Response, Echo)>,
    form: Form,
    /// The memory of both bodies, which a script that keeps responses holds.
    _held: HeldBytes,
}

impl HttpResponse {
    pub(super) fn new(response: Response, echo: Echo, form: Form) -> Self {
        let held = HeldBytes::new(response.body.as_ref().map_or(0, |body| body.len()) + echo.body.len());
        Self { response: Box::new((response, echo)), form, _held: held }
    }
}

impl<'js> Trace<'js> for HttpResponse {
    fn trace<'a>(&self, _: Tracer<'a, 'js>) {}
}

impl<'js> JsClass<'js> for HttpResponse {
    const NAME: &'static str = "Response";
    type Mutable = Readable;

    fn prototype(ctx: &Ctx<'js>) -> Result<Option<Object<'js>>> {
        let prototype = Object::new(ctx.clone())?;
        for (name, read) in FIELDS {
            field(&prototype, name, *read)?;
        }
        let whole_or_part =
            |ctx: Ctx<'js>, this: This<Class<'js, HttpResponse>>, path: Opt<Value<'js>>| json(&ctx, &this.0, path.0);
        prototype.set("json", Function::new(ctx.clone(), whole_or_part)?.with_name("json")?)?;
        let plain = |ctx: Ctx<'js>, this: This<Class<'js, HttpResponse>>| to_json(&ctx, &this.0);
        prototype.set("toJSON", Function::new(ctx.clone(), plain)?.with_name("toJSON")?)?;
        Ok(Some(prototype))
    }

    fn constructor(_: &Ctx<'js>) -> Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}

type Read = for<'js> fn(&Ctx<'js>, &HttpResponse) -> Result<Value<'js>>;

/// All fields, in k6's order.
const FIELDS: &[(&str, Read)] = &[
    ("remote_ip", |ctx, this| this.remote(|address| address.ip().to_string()).unwrap_or_default().into_js(ctx)),
    ("remote_port", |ctx, this| this.remote(|address| address.port()).unwrap_or_default().into_js(ctx)),
    ("url", |ctx, this| this.response.0.url.as_str().into_js(ctx)),
    ("status", |ctx, this| Ok(Value::new_int(ctx.clone(), this.response.0.status.into()))),
    ("status_text", |ctx, this| status_text(this.response.0.status).into_js(ctx)),
    ("proto", |ctx, this| this.response.0.proto.into_js(ctx)),
    ("headers", |ctx, this| headers(ctx, &this.response.0.headers)),
    ("cookies", cookies),
    ("body", body),
    ("timings", timings),
    ("tls_cipher_suite", |ctx, this| this.response.0.tls_cipher_suite.unwrap_or_default().into_js(ctx)),
    ("tls_version", |ctx, this| this.response.0.tls_version.unwrap_or_default().into_js(ctx)),
    ("ocsp", ocsp),
    ("error", |ctx, this| this.failure().map_or("", |(_, text)| text).into_js(ctx)),
    ("error_code", |ctx, this| this.failure().map_or(0, |(code, _)| code).into_js(ctx)),
    ("request", echo),
];

/// A field on the prototype. Objects are made once and kept by the response itself; what a script assigns stays.
fn field<'js>(prototype: &Object<'js>, name: &'static str, read: Read) -> Result<()> {
    let keep = move |this: &Object<'js>, value: Value<'js>| {
        this.prop(name, Property::from(value).writable().enumerable().configurable())
    };
    let get = move |ctx: Ctx<'js>, this: This<Class<'js, HttpResponse>>| {
        let value = read(&ctx, &this.0.borrow())?;
        if value.is_object() || (value.is_string() && name == "body") {
            keep(this.0.as_inner(), value.clone())?;
        }
        Ok::<_, rquickjs::Error>(value)
    };
    let set = move |this: This<Object<'js>>, value: Value<'js>| keep(&this.0, value);
    prototype.prop(name, Accessor::new(get, set).enumerable().configurable())
}

impl HttpResponse {
    fn remote<T>(&self, part: impl Fn(std::net::SocketAddr) -> T) -> Option<T> {
        self.response.0.remote.map(part)
    }

    fn failure(&self) -> Option<(u32, &str)> {
        self.response.0.error.as_ref().map(|failure| (failure.code, failure.text.as_str()))
    }

    /// The body; `None` if it was not wanted or there was no answer.
    fn body(&self) -> Option<&[u8]> {
        let (response, _) = &*self.response;
        // As in k6, an answer that can have no body has none; one that is empty, or to HEAD, has an empty one.
        let has_none = matches!(response.status, 0 | 204 | 304);
        let is_there = self.form.keeps_body && !has_none;
        is_there.then(|| self.response.0.body.as_deref().unwrap_or_default())
    }
}

fn status_text(status: u16) -> String {
    match StatusCode::from_u16(status) {
        Ok(code) => format!("{status} {}", code.canonical_reason().unwrap_or_default()).trim_end().to_owned(),
        Err(_) => String::new(),
    }
}

/// Headers under their usual spelling, repeated ones joined.
pub(crate) fn headers<'js>(ctx: &Ctx<'js>, headers: &HeaderMap) -> Result<Value<'js>> {
    let object = Object::new(ctx.clone())?;
    // How the body was cut is none of the script's business, as in k6.
    for name in headers.keys().filter(|name| *name != TRANSFER_ENCODING) {
        let values: Vec<_> =
            headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
        object.set(usual_spelling(name.as_str()), values.join(", "))?;
    }
    Ok(object.into_value())
}

/// `content-type` as `Content-Type`.
fn usual_spelling(name: &str) -> String {
    let mut at_start = true;
    let spell = |c: char| {
        let spelled = if at_start { c.to_ascii_uppercase() } else { c };
        at_start = c == '-';
        spelled
    };
    name.chars().map(spell).collect()
}

/// The cookies that the answer sets, by name, as lists of objects.
fn cookies<'js>(ctx: &Ctx<'js>, this: &HttpResponse) -> Result<Value<'js>> {
    let object = Object::new(ctx.clone())?;
    for header in this.response.0.headers.get_all(SET_COOKIE) {
        let header = String::from_utf8_lossy(header.as_bytes());
        if let Some((name, cookie)) = cookie(ctx, &header)? {
            append(ctx, &object, name, cookie)?;
        }
    }
    Ok(object.into_value())
}

/// k6's date of a cookie that has none, in milliseconds.
const NO_DATE: f64 = -6_795_364_578_871.0;

fn cookie<'js, 'h>(ctx: &Ctx<'js>, header: &'h str) -> Result<Option<(&'h str, Object<'js>)>> {
    let mut parts = header.split(';').map(str::trim);
    let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else { return Ok(None) };
    let (name, value) = (name.trim(), value.trim());
    if name.is_empty() {
        return Ok(None);
    }
    let value = value.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')).unwrap_or(value);
    let (mut domain, mut path, mut http_only, mut secure) = ("", "", false, false);
    let (mut max_age, mut expires) = (0, NO_DATE);
    for part in parts {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        match key.trim().to_ascii_lowercase().as_str() {
            "domain" => domain = value.trim(),
            "path" => path = value.trim(),
            "httponly" => http_only = true,
            "secure" => secure = true,
            // No time left is -1, since 0 stands for an age that was not given.
            "max-age" => max_age = value.trim().parse().map_or(0, |age: i64| if age <= 0 { -1 } else { age }),
            "expires" => expires = cookie_date(value).map_or(expires, |seconds| seconds as f64 * 1000.0),
            _ => {}
        }
    }
    let cookie = Object::new(ctx.clone())?;
    cookie.set("name", name)?;
    cookie.set("value", value)?;
    cookie.set("domain", domain)?;
    cookie.set("path", path)?;
    cookie.set("http_only", http_only)?;
    cookie.set("secure", secure)?;
    cookie.set("max_age", max_age as f64)?;
    cookie.set("expires", expires)?;
    Ok(Some((name, cookie)))
}

/// Nothing is asked about certificates, so every part is empty, as in k6 where the service staples no answer.
fn ocsp<'js>(ctx: &Ctx<'js>, _: &HttpResponse) -> Result<Value<'js>> {
    let object = Object::new(ctx.clone())?;
    for name in ["produced_at", "this_update", "next_update", "revoked_at"] {
        object.set(name, 0)?;
    }
    object.set("revocation_reason", "")?;
    object.set("status", "")?;
    Ok(object.into_value())
}

fn body<'js>(ctx: &Ctx<'js>, this: &HttpResponse) -> Result<Value<'js>> {
    match this.body() {
        None => Ok(Value::new_null(ctx.clone())),
        Some(bytes) if this.form.is_binary => ArrayBuffer::new_copy(ctx.clone(), bytes).map(ArrayBuffer::into_value),
        Some(bytes) => String::from_utf8_lossy(bytes).into_js(ctx),
    }
}

fn timings<'js>(ctx: &Ctx<'js>, this: &HttpResponse) -> Result<Value<'js>> {
    let timings = this.response.0.timings;
    let object = Object::new(ctx.clone())?;
    object.set("duration", timings.duration())?;
    object.set("blocked", timings.blocked)?;
    object.set("looking_up", 0)?;
    object.set("connecting", timings.connecting)?;
    object.set("tls_handshaking", timings.tls_handshaking)?;
    object.set("sending", timings.sending)?;
    object.set("waiting", timings.waiting)?;
    object.set("receiving", timings.receiving)?;
    Ok(object.into_value())
}

/// The request that the script made, with what was added on the way.
fn echo<'js>(ctx: &Ctx<'js>, this: &HttpResponse) -> Result<Value<'js>> {
    let Echo { method, url, headers, body, meter } = &this.response.1;
    let object = Object::new(ctx.clone())?;
    object.set("method", method.as_str())?;
    object.set("url", url.as_str())?;
    let lists = Object::new(ctx.clone())?;
    for name in headers.keys() {
        let values = headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        lists.set(usual_spelling(name.as_str()), values.collect::<Vec<_>>())?;
    }
    let user_agent = &meter.plan().http.user_agent;
    if !headers.contains_key(USER_AGENT) && !user_agent.is_empty() {
        lists.set("User-Agent", vec![user_agent.as_str()])?;
    }
    let cookies = Object::new(ctx.clone())?;
    let own = headers.get(COOKIE).map(|own| String::from_utf8_lossy(own.as_bytes()).into_owned());
    let mut sent: Vec<String> = own.iter().cloned().collect();
    let own = own.iter().flat_map(|own| own.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let others = this.response.0.cookies.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    sent.extend(others.clone().map(|(name, value)| format!("{name}={value}")));
    for (name, value) in own.chain(others) {
        let cookie = Object::new(ctx.clone())?;
        cookie.set("name", name)?;
        cookie.set("value", value)?;
        cookie.set("replace", false)?;
        append(ctx, &cookies, name, cookie)?;
    }
    if !sent.is_empty() {
        lists.set("Cookie", vec![sent.join("; ")])?;
    }
    object.set("headers", lists)?;
    object.set("body", String::from_utf8_lossy(body).as_ref())?;
    object.set("cookies", cookies)?;
    Ok(object.into_value())
}

/// All fields as a plain object.
fn to_json<'js>(ctx: &Ctx<'js>, this: &Class<'js, HttpResponse>) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    for (name, _) in FIELDS {
        object.set(*name, this.as_inner().get::<_, Value<'js>>(*name)?)?;
    }
    Ok(object)
}

/// `json()`: the whole body, parsed once; `json(selector)`: a part of it, undefined if it is not there.
fn json<'js>(ctx: &Ctx<'js>, this: &Class<'js, HttpResponse>, path: Option<Value<'js>>) -> Result<Value<'js>> {
    const KEPT: &str = "__json";
    let object = this.as_inner();
    let path = path.filter(|path| !path.is_undefined() && !path.is_null());
    if path.is_none() {
        let kept: Value<'js> = object.get(KEPT)?;
        if !kept.is_undefined() {
            return Ok(kept);
        }
    }
    let borrowed = this.borrow();
    let Some(bytes) = borrowed.body() else {
        let why = "there was no answer, or its body was not kept (responseType 'none', discardResponseBodies)";
        return Err(Exception::throw_type(ctx, &format!("the body is null, so it cannot be read as JSON: {why}")));
    };
    let Some(path) = path else {
        let parsed = ctx.json_parse(bytes)?;
        object.prop(KEPT, Property::from(parsed.clone()).configurable())?;
        return Ok(parsed);
    };
    let path = text(&path)?;
    let json = String::from_utf8_lossy(bytes);
    let found = native::with_room(|| {
        gjson::is_valid(&json).then(|| gjson::select(&json, &path)).flatten().map(std::borrow::Cow::into_owned)
    });
    match found {
        Some(found) => ctx.json_parse(found),
        None => Ok(Value::new_undefined(ctx.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_have_their_usual_spelling() {
        assert_eq!(usual_spelling("content-type"), "Content-Type");
        assert_eq!(usual_spelling("x-b3-traceid"), "X-B3-Traceid");
    }

    #[test]
    fn a_status_without_name_is_only_a_number() {
        assert_eq!(
            (status_text(200).as_str(), status_text(599).as_str(), status_text(0).as_str()),
            ("200 OK", "599", "")
        );
    }
}
