//! From the arguments of a script to a request.

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;
use engine::coding::Coding;
use engine::user::Request;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use model::record::Level;
use rquickjs::{Ctx, Exception, Object, Result, Value};

use super::body::body_of;
use super::jar::jar_of;
use super::response::Echo;
use super::{expected, url_of};
use crate::host::{Host, Seat, tag_pairs, text};
use crate::options::parse_duration;

/// What a script asked for.
pub(super) struct Call<'js> {
    pub(super) method: Method,
    pub(super) url: Value<'js>,
    pub(super) body: Option<Value<'js>>,
    pub(super) params: Option<Value<'js>>,
}

/// How the response is to be given to the script.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Form {
    /// The body as an ArrayBuffer.
    pub(super) is_binary: bool,
    /// The body at all.
    pub(super) keeps_body: bool,
    /// A request without response throws.
    pub(super) throws: bool,
}

/// A request, and how its response is to be given.
pub(super) struct Prepared {
    pub(super) request: Box<Request>,
    pub(super) form: Form,
    /// The body before it was packed.
    plain: Bytes,
}

impl Prepared {
    /// What `response.request` shows later.
    pub(super) fn echo(&self, host: &Host) -> Echo {
        let Request { method, url, headers, .. } = &*self.request;
        let (method, url, headers) = (method.clone(), url.clone(), headers.clone());
        Echo { method, url, headers, body: self.plain.clone(), meter: host.meter.clone() }
    }
}

/// A method from its name.
pub(super) fn method(ctx: &Ctx<'_>, name: &Value<'_>) -> Result<Method> {
    let name = text(name)?.to_uppercase();
    Method::from_bytes(name.as_bytes())
        .map_err(|_| Exception::throw_type(ctx, &format!("'{name}' is not an HTTP method")))
}

/// Makes the request of a call.
pub(super) fn build<'js>(ctx: &Ctx<'js>, host: &Host, seat: &Seat, call: &Call<'js>) -> Result<Prepared> {
    let settings = &host.meter.plan().http;
    let (url, name) = url_of(ctx, &call.url)?;
    let keeps_body = !settings.discard_response_bodies;
    // On the heap from the start: users wait here by the thousand, and each page of a stack counts.
    let mut request = Box::new(Request::get(url, seat.tags.get()));
    request.method = call.method.clone();
    request.name = name;
    request.jar = Some(seat.jar.clone());
    request.keep_body = keeps_body;
    request.expected.clone_from(&seat.expected.borrow());
    let form = Form { is_binary: false, keeps_body, throws: settings.throw };
    let mut prepared = Prepared { request, form, plain: Bytes::new() };
    if let Some(body) = &call.body {
        let (bytes, content_type) = body_of(ctx, body)?;
        prepared.plain = bytes.clone();
        prepared.request.body = bytes;
        if let Some(content_type) = content_type {
            prepared
                .request
                .headers
                .insert(CONTENT_TYPE, HeaderValue::try_from(content_type).expect("types of bodies are plain text"));
        }
    }
    match &call.params {
        Some(params) if params.is_object() => {
            apply(ctx, host, seat, &mut prepared, params.as_object().expect("it is an object"))?;
        }
        Some(params) if !params.is_undefined() && !params.is_null() => {
            let message = format!("the parameters of a request must be an object, {} was given", params.type_name());
            return Err(Exception::throw_type(ctx, &message));
        }
        _ => {}
    }
    Ok(prepared)
}

/// Applies the params of a request. Unknown keys mean nothing, as in k6.
fn apply<'js>(ctx: &Ctx<'js>, host: &Host, seat: &Seat, to: &mut Prepared, params: &Object<'js>) -> Result<()> {
    let mut compression = String::new();
    for pair in params.props::<String, Value<'js>>() {
        let (key, value) = pair?;
        if value.is_undefined() || (value.is_null() && !matches!(key.as_str(), "responseCallback" | "jar")) {
            continue;
        }
        let request = &mut to.request;
        match key.as_str() {
            "headers" => headers_of(ctx, &value, &mut request.headers)?,
            "tags" => {
                let pairs = tag_pairs(ctx, &value)?;
                let (names, others): (Vec<_>, Vec<_>) = pairs.iter().partition(|(key, _)| key == "name");
                let others: Vec<_> = others.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
                if let Some((_, name)) = names.first() {
                    request.name = Some(name.as_str().into());
                }
                if !others.is_empty() {
                    request.tags = host.meter.tags(seat.tags.get(), &others);
                }
            }
            "cookies" => request.cookies = cookies_of(ctx, &value)?,
            "redirects" => {
                let count = value.as_number().filter(|count| *count >= 0.0 && *count <= f64::from(u32::MAX));
                let wrong = || Exception::throw_type(ctx, "redirects must be a number that is not negative");
                request.redirects = Some(count.ok_or_else(wrong)? as u32);
            }
            "timeout" => request.timeout = Some(timeout_of(ctx, &value)?),
            "responseType" => {
                (to.form.keeps_body, to.form.is_binary) = match text(&value)?.as_str() {
                    "text" => (true, false),
                    "binary" => (true, true),
                    "none" => (false, false),
                    other => {
                        let message = format!("responseType must be text, binary or none, '{other}' was given");
                        return Err(Exception::throw_type(ctx, &message));
                    }
                };
                request.keep_body = to.form.keeps_body;
            }
            "responseCallback" => request.expected = expected(ctx, &value)?,
            "throw" => to.form.throws = value.as_bool().unwrap_or(false),
            "compression" => compression = text(&value)?,
            // User and password in the URL are all that is needed for anything else, as in k6.
            "auth" => {
                let way = text(&value)?;
                request.digest = way == "digest";
                if way == "ntlm" {
                    let sentence = "the request parameter auth: 'ntlm' is not supported: 'basic' and 'digest' are";
                    return Err(seat.unsupported(ctx, sentence));
                }
            }
            // What is no jar stands for none at all, as in k6.
            "jar" => request.jar = Some(jar_of(&value).unwrap_or_default()),
            _ => {}
        }
    }
    pack(ctx, host, &mut to.request, &compression)
}

/// Packs the body by each coding of a list in turn, and says so in a header unless the script has one of its own.
fn pack(ctx: &Ctx<'_>, host: &Host, request: &mut Request, compression: &str) -> Result<()> {
    if compression.is_empty() {
        return Ok(());
    }
    let mut names = Vec::new();
    for name in compression.split(',').map(str::trim) {
        let Some(coding) = Coding::named(name) else {
            let known = Coding::ALL.map(Coding::name).join(", ");
            let message = format!("unknown compression algorithm '{name}', supported are {known}");
            return Err(Exception::throw_type(ctx, &message));
        };
        names.push(coding.name());
        if !request.body.is_empty() {
            request.body = coding.pack(&request.body).into();
        }
    }
    if request.body.is_empty() {
        return Ok(());
    }
    let names = names.join(", ");
    match request.headers.get(CONTENT_ENCODING) {
        Some(own) if own.as_bytes() != names.as_bytes() => {
            let own = String::from_utf8_lossy(own.as_bytes());
            let text =
                format!("the body is packed as '{names}', but the script's header Content-Encoding says '{own}'");
            host.meter.log(Level::Warn, text);
        }
        Some(_) => {}
        None => {
            let names = HeaderValue::try_from(names).expect("names of codings are words");
            request.headers.insert(CONTENT_ENCODING, names);
        }
    }
    Ok(())
}

pub(crate) fn headers_of<'js>(ctx: &Ctx<'js>, given: &Value<'js>, headers: &mut HeaderMap) -> Result<()> {
    let Some(given) = given.as_object() else {
        return Err(Exception::throw_type(ctx, "headers must be an object"));
    };
    for pair in given.props::<String, Value<'js>>() {
        let (key, value) = pair?;
        let value = text(&value)?;
        let name = HeaderName::from_bytes(key.as_bytes());
        let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(value.as_bytes())) else {
            return Err(Exception::throw_type(ctx, &format!("header '{key}: {value}' is not valid in HTTP")));
        };
        headers.insert(name, value);
    }
    Ok(())
}

/// Cookies of one request: text, or `{value, replace}`.
fn cookies_of<'js>(ctx: &Ctx<'js>, given: &Value<'js>) -> Result<Vec<(String, String, bool)>> {
    let Some(given) = given.as_object() else {
        return Err(Exception::throw_type(ctx, "cookies must be an object"));
    };
    let mut cookies = Vec::new();
    for pair in given.props::<String, Value<'js>>() {
        let (name, cookie) = pair?;
        if cookie.is_null() || cookie.is_undefined() {
            continue;
        }
        cookies.push(match cookie.as_object() {
            Some(object) => {
                let replaces = object.get::<_, Option<bool>>("replace")?.unwrap_or(false);
                (name, text(&object.get::<_, Value<'js>>("value")?)?, replaces)
            }
            None => (name, text(&cookie)?, false),
        });
    }
    Ok(cookies)
}

/// Milliseconds, or a text such as `1m30s`.
fn timeout_of(ctx: &Ctx<'_>, value: &Value<'_>) -> Result<Duration> {
    let given: Cow<'_, str> = text(value)?.into();
    parse_duration(&given).map_err(|error| Exception::throw_type(ctx, &format!("timeout: {error}")))
}
