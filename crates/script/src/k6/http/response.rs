//! The response as scripts see it: fields are made when they are looked at, and cost nothing otherwise.

use std::rc::Rc;

use bytes::Bytes;
use engine::user::Response;
use http::{HeaderMap, Method, StatusCode};
use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::function::{Constructor, Opt, This};
use rquickjs::object::{Accessor, Property};
use rquickjs::{Array, ArrayBuffer, Class, Ctx, Exception, Function, IntoJs, Object, Result, Value};

use super::request::Form;
use super::selector;
use crate::host::Seat;

/// What `response.request` shows.
#[derive(Debug)]
pub(super) struct Echo {
    pub(super) method: Method,
    pub(super) url: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// A response, held by an object of a script.
pub(crate) struct HttpResponse {
    response: Box<(Response, Echo)>,
    form: Form,
    /// Whose it is.
    seat: Rc<Seat>,
}

impl HttpResponse {
    pub(super) fn new(response: Response, echo: Echo, form: Form, seat: Rc<Seat>) -> Self {
        Self { response: Box::new((response, echo)), form, seat }
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
        for name in ["ocsp", "tls_cipher_suite"] {
            let missing = move |ctx: Ctx<'js>, this: This<Class<'js, HttpResponse>>| -> Result<()> {
                let sentence = format!("the field '{name}' of a response is not supported yet");
                Err(this.0.borrow().seat.unsupported(&ctx, &sentence))
            };
            prototype.prop(name, Accessor::new_get(missing))?;
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
    ("tls_version", |ctx, this| this.response.0.tls_version.unwrap_or_default().into_js(ctx)),
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
        let is_there = self.form.keeps_body && self.response.0.status != 0;
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
fn headers<'js>(ctx: &Ctx<'js>, headers: &HeaderMap) -> Result<Value<'js>> {
    let object = Object::new(ctx.clone())?;
    for name in headers.keys() {
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

/// Cookies by name, as lists of objects. Of a cookie only name and value are known here.
fn cookies<'js>(ctx: &Ctx<'js>, this: &HttpResponse) -> Result<Value<'js>> {
    let object = Object::new(ctx.clone())?;
    for (name, value) in &this.response.0.cookies {
        let cookie = Object::new(ctx.clone())?;
        cookie.set("name", name)?;
        cookie.set("value", value)?;
        let list = match object.get::<_, Option<Array<'js>>>(name)? {
            Some(list) => list,
            None => {
                let list = Array::new(ctx.clone())?;
                object.set(name, list.clone())?;
                list
            }
        };
        list.set(list.len(), cookie)?;
    }
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

fn echo<'js>(ctx: &Ctx<'js>, this: &HttpResponse) -> Result<Value<'js>> {
    let Echo { method, url, headers, body } = &this.response.1;
    let object = Object::new(ctx.clone())?;
    object.set("method", method.as_str())?;
    object.set("url", url.as_str())?;
    let lists = Object::new(ctx.clone())?;
    for name in headers.keys() {
        let values = headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        lists.set(usual_spelling(name.as_str()), values.collect::<Vec<_>>())?;
    }
    object.set("headers", lists)?;
    object.set("body", String::from_utf8_lossy(body).as_ref())?;
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
    let parsed = {
        let borrowed = this.borrow();
        let Some(bytes) = borrowed.body() else {
            return Err(Exception::throw_type(ctx, "the response has no body, so it is not JSON"));
        };
        ctx.json_parse(bytes)
    };
    let Some(path) = path else {
        let parsed = parsed?;
        object.prop(KEPT, Property::from(parsed.clone()).configurable())?;
        return Ok(parsed);
    };
    let steps = selector::parse(&crate::host::text(&path)?);
    let steps = steps.map_err(|error| this.borrow().seat.unsupported(ctx, &error.to_string()))?;
    match parsed {
        Ok(value) => selector::select(ctx, value, &steps),
        Err(_) => {
            ctx.catch();
            Ok(Value::new_undefined(ctx.clone()))
        }
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
