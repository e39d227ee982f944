//! `k6/http`: requests that block their user alone.

mod body;
mod forms;
pub(crate) mod gjson;
mod jar;
mod request;
mod response;

use std::rc::Rc;

use engine::user::{Answer, Ask, Event, ExpectedStatuses, Response, Work};
use http::Method;
use model::record::Level;
use rquickjs::function::{Opt, Rest};
use rquickjs::{Array, Class, Ctx, Exception, Function, IntoJs, Object, Promise, Result, Value};
use url::Url;

use super::Builtin;
use crate::event_loop;
use crate::host::{Host, text};
use crate::native;
use crate::realm::evaluate_own;
use body::append;
use request::{Call, Form};
use response::Echo;

pub(crate) use jar::{CookieJar, jar_of};
pub(crate) use request::headers_of;
pub(crate) use response::{HttpResponse, headers};

pub(super) const MODULE: Builtin = Builtin {
    name: "k6/http",
    exports: &[
        "CookieJar",
        "OCSP_REASON_AA_COMPROMISE",
        "OCSP_REASON_AFFILIATION_CHANGED",
        "OCSP_REASON_CA_COMPROMISE",
        "OCSP_REASON_CERTIFICATE_HOLD",
        "OCSP_REASON_CESSATION_OF_OPERATION",
        "OCSP_REASON_KEY_COMPROMISE",
        "OCSP_REASON_PRIVILEGE_WITHDRAWN",
        "OCSP_REASON_REMOVE_FROM_CRL",
        "OCSP_REASON_SUPERSEDED",
        "OCSP_REASON_UNSPECIFIED",
        "OCSP_STATUS_GOOD",
        "OCSP_STATUS_REVOKED",
        "OCSP_STATUS_SERVER_FAILED",
        "OCSP_STATUS_UNKNOWN",
        "TLS_1_0",
        "TLS_1_1",
        "TLS_1_2",
        "TLS_1_3",
        "asyncRequest",
        "batch",
        "cookieJar",
        "del",
        "expectedStatuses",
        "file",
        "get",
        "head",
        "options",
        "patch",
        "post",
        "put",
        "request",
        "setResponseCallback",
        "url",
    ],
    make,
};

/// Functions for one method: name, method, whether it takes a body.
const METHODS: [(&str, Method, bool); 7] = [
    ("get", Method::GET, false),
    ("head", Method::HEAD, false),
    ("post", Method::POST, true),
    ("put", Method::PUT, true),
    ("patch", Method::PATCH, true),
    ("del", Method::DELETE, true),
    ("options", Method::OPTIONS, true),
];

/// Answers about certificates, as `ocsp.status` of a response would have them.
const OCSP_STATUSES: [&str; 4] = ["good", "revoked", "server_failed", "unknown"];

/// Why a certificate was revoked.
const OCSP_REASONS: [&str; 10] = [
    "unspecified",
    "key_compromise",
    "ca_compromise",
    "affiliation_changed",
    "superseded",
    "cessation_of_operation",
    "certificate_hold",
    "remove_from_crl",
    "privilege_withdrawn",
    "aa_compromise",
];

fn make<'js>(ctx: &Ctx<'js>, host: &Rc<Host>) -> Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    for (name, method, has_body) in METHODS {
        let of = host.clone();
        let function = move |ctx: Ctx<'js>, url: Opt<Value<'js>>, second: Opt<Value<'js>>, third: Opt<Value<'js>>| {
            let url = url.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
            let (body, params) = if has_body { (second.0, third.0) } else { (None, second.0) };
            fetch(&ctx, &of, &Call { method: method.clone(), url, body, params })
        };
        module.set(name, Function::new(ctx.clone(), function)?.with_name(name)?)?;
    }
    let of = host.clone();
    let request = move |ctx: Ctx<'js>, method: Value<'js>, url: Value<'js>, rest: Rest<Value<'js>>| {
        let mut rest = rest.0.into_iter();
        let call = Call { method: request::method(&ctx, &method)?, url, body: rest.next(), params: rest.next() };
        fetch(&ctx, &of, &call)
    };
    module.set("request", Function::new(ctx.clone(), request)?.with_name("request")?)?;
    let of = host.clone();
    let request = move |ctx: Ctx<'js>, method: Opt<Value<'js>>, url: Opt<Value<'js>>, rest: Rest<Value<'js>>| {
        let undefined = || Value::new_undefined(ctx.clone());
        let (method, url) = (method.0.unwrap_or_else(undefined), url.0.unwrap_or_else(undefined));
        async_request(&ctx, &of, &method, url, rest.0)
    };
    module.set("asyncRequest", Function::new(ctx.clone(), request)?.with_name("asyncRequest")?)?;
    let of = host.clone();
    let batch = move |ctx: Ctx<'js>, requests: Value<'js>| batch(&ctx, &of, &requests);
    module.set("batch", Function::new(ctx.clone(), batch)?.with_name("batch")?)?;
    let of = host.clone();
    let callback = move |ctx: Ctx<'js>, callback: Opt<Value<'js>>| -> Result<()> {
        let callback = callback.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
        of.seat().expected.replace(expected(&ctx, &callback)?);
        Ok(())
    };
    module.set("setResponseCallback", Function::new(ctx.clone(), callback)?.with_name("setResponseCallback")?)?;
    jar::install(ctx, host, &module)?;
    for (kind, words) in [("STATUS", &OCSP_STATUSES[..]), ("REASON", &OCSP_REASONS)] {
        for word in words {
            module.set(format!("OCSP_{kind}_{}", word.to_uppercase()), *word)?;
        }
    }
    for version in ["1.0", "1.1", "1.2", "1.3"] {
        module.set(format!("TLS_{}", version.replace('.', "_")), format!("tls{version}"))?;
    }
    let parts: Object<'_> = evaluate_own(ctx, "k6/http.js", include_str!("http/http.js"))?.get()?;
    for part in parts.props::<String, Value<'js>>() {
        let (name, value) = part?;
        module.set(name, value)?;
    }
    forms::install(ctx, host, &module.get("request")?)?;
    Ok(module)
}

/// Sends one request and waits for its response.
fn fetch<'js>(ctx: &Ctx<'js>, host: &Host, call: &Call<'js>) -> Result<Class<'js, HttpResponse>> {
    let seat = host.seat_in_iteration(ctx, "an HTTP request")?;
    let prepared = request::build(ctx, host, &seat, call)?;
    let (echo, form) = (prepared.echo(host), prepared.form);
    let answer = native::ask(ctx, Ask::Http(prepared.request))?;
    let Answer::Response(response) = answer else {
        return Err(Exception::throw_internal(ctx, "the engine answered a request with something else"));
    };
    give(ctx, host, *response, echo, form)
}

/// Sends one request and returns the promise of its response. What is wrong with it rejects the promise.
fn async_request<'js>(
    ctx: &Ctx<'js>,
    host: &Rc<Host>,
    method: &Value<'js>,
    url: Value<'js>,
    rest: Vec<Value<'js>>,
) -> Result<Promise<'js>> {
    let begin = || {
        let seat = host.seat_in_iteration(ctx, "http.asyncRequest()")?;
        let mut rest = rest.into_iter();
        let call = Call { method: request::method(ctx, method)?, url, body: rest.next(), params: rest.next() };
        let prepared = request::build(ctx, host, &seat, &call)?;
        let (echo, form, of) = (prepared.echo(host), prepared.form, host.clone());
        event_loop::promise(ctx, &seat, Work::Http(prepared.request), move |ctx, event| match event {
            Event::Response(response) => give(ctx, &of, *response, echo, form)?.into_js(ctx),
            _ => Err(Exception::throw_internal(ctx, "the engine answered a request with something else")),
        })
    };
    begin().or_else(|error| {
        let (promise, resolve, reject) = ctx.promise()?;
        event_loop::conclude(ctx, Err(error), &resolve, &reject)?;
        Ok(promise)
    })
}

/// Gives a response to the script. One that is none is logged, or thrown if the script wants that.
fn give<'js>(
    ctx: &Ctx<'js>,
    host: &Host,
    response: Response,
    echo: Echo,
    form: Form,
) -> Result<Class<'js, HttpResponse>> {
    if let (0, Some(failure)) = (response.status, &response.error) {
        if form.throws {
            return Err(Exception::throw_message(ctx, &failure.text));
        }
        host.meter.log(Level::Warn, format!("request failed: {} {}: {}", echo.method, shown(&echo.url), failure.text));
    }
    Class::instance(ctx.clone(), HttpResponse::new(response, echo, form))
}

/// A URL as it may be logged: without its password.
fn shown(url: &str) -> String {
    match Url::parse(url) {
        Ok(mut parsed) if parsed.password().is_some() => {
            // Fails only for URLs without a host, which hold no password.
            let _ = parsed.set_password(Some("***"));
            parsed.into()
        }
        _ => url.to_owned(),
    }
}

/// Sends requests at once; the result has the shape of what was given.
fn batch<'js>(ctx: &Ctx<'js>, host: &Host, requests: &Value<'js>) -> Result<Value<'js>> {
    let seat = host.seat_in_iteration(ctx, "http.batch()")?;
    let Some(given) = requests.as_object() else {
        return Err(Exception::throw_type(ctx, "http.batch() needs an array or an object of requests"));
    };
    let (mut keys, mut echoes, mut sent) = (Vec::new(), Vec::new(), Vec::new());
    for pair in given.props::<String, Value<'js>>() {
        let (key, entry) = pair?;
        let prepared = request::build(ctx, host, &seat, &batch_call(ctx, &key, &entry)?)?;
        keys.push(key);
        echoes.push((prepared.echo(host), prepared.form));
        sent.push(*prepared.request);
    }
    let result = if given.is_array() { Array::new(ctx.clone())?.into_object() } else { Object::new(ctx.clone())? };
    if sent.is_empty() {
        return Ok(result.into_value());
    }
    let Answer::Responses(responses) = native::ask(ctx, Ask::Batch(sent))? else {
        return Err(Exception::throw_internal(ctx, "the engine answered a batch with something else"));
    };
    for ((key, (echo, form)), response) in keys.into_iter().zip(echoes).zip(responses) {
        result.set(key, give(ctx, host, response, echo, form)?)?;
    }
    Ok(result.into_value())
}

/// One entry of a batch: a URL, `[method, url, body, params]` or `{method, url, body, params}`.
fn batch_call<'js>(ctx: &Ctx<'js>, key: &str, entry: &Value<'js>) -> Result<Call<'js>> {
    if entry.is_string() {
        return Ok(Call { method: Method::GET, url: entry.clone(), body: None, params: None });
    }
    let wrong =
        || Exception::throw_type(ctx, &format!("http.batch(): request '{key}' is neither URL, array nor object"));
    let object = entry.as_object().ok_or_else(wrong)?;
    let keys = if entry.is_array() { ["0", "1", "2", "3"] } else { ["method", "url", "body", "params"] };
    let [method, url, body, params] = keys.map(|key| object.get::<_, Value<'js>>(key));
    let method = method?;
    let method = if method.is_undefined() { "GET".to_owned() } else { text(&method)?.to_uppercase() };
    let method = request::method_named(ctx, &method)?;
    let has_body = !(entry.is_object() && !entry.is_array() && matches!(method, Method::GET | Method::HEAD));
    Ok(Call { method, url: url?, body: if has_body { Some(body?) } else { None }, params: Some(params?) })
}

/// What `expectedStatuses` made, or null for no judgement.
fn expected<'js>(ctx: &Ctx<'js>, callback: &Value<'js>) -> Result<Option<ExpectedStatuses>> {
    if callback.is_null() {
        return Ok(None);
    }
    let ranges = callback.as_object().and_then(|object| object.get::<_, Option<Vec<Vec<u16>>>>("ranges").transpose());
    let Some(ranges) = ranges.transpose()? else {
        return Err(Exception::throw_type(
            ctx,
            "a response callback must come from http.expectedStatuses(), or be null",
        ));
    };
    let ranges: Vec<_> = ranges.iter().filter_map(|range| Some((*range.first()?, *range.get(1)?))).collect();
    Ok(Some(ExpectedStatuses(ranges.into())))
}

/// A URL, and the `name` tag it asks for.
fn url_of<'js>(ctx: &Ctx<'js>, url: &Value<'js>) -> Result<(String, Option<Rc<str>>)> {
    if let Some(string) = url.as_string() {
        return Ok((string.to_string()?, None));
    }
    if url.is_undefined() || url.is_null() {
        return Err(Exception::throw_type(ctx, &format!("a URL is expected, {} was given", url.type_name())));
    }
    let name = url.as_object().map(|object| object.get::<_, Option<String>>("name")).transpose()?.flatten();
    Ok((text(url)?, name.map(Rc::from)))
}
