//! `k6/ws`, whose sockets block their user, and `k6/websockets`, whose sockets do not: both over the same engine.

use std::cell::Cell;
use std::rc::Rc;

use engine::user::{Event, SocketAnswer, SocketEvent, SocketManner, SocketRequest, SocketWord, Ticket, Word, Work};
use http::HeaderMap;
use model::record::Level;
use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::function::Constructor;
use rquickjs::{ArrayBuffer, Class, Ctx, Exception, Function, IntoJs, Object, Persistent, Result, Value};
use url::Url;

use super::timers::{self, Rings};
use super::{Builtin, http as k6_http};
use crate::event_loop::{self, Flow, Handler};
use crate::host::{Host, Seat, tag_pairs, text};
use crate::native;
use crate::realm::evaluate_own;

pub(super) const WS: Builtin = Builtin { name: "k6/ws", exports: &["connect"], make: ws };

pub(super) const WEBSOCKETS: Builtin =
    Builtin { name: "k6/websockets", exports: &["Blob", "WebSocket"], make: websockets };

pub(super) const EXPERIMENTAL_WEBSOCKETS: Builtin =
    Builtin { name: "k6/experimental/websockets", exports: &["Blob", "WebSocket"], make: websockets };

/// Bytes that a socket may still have to send: a script that never waits must not fill the memory.
const UNSENT_BYTES_MAX: usize = 64 * 1024 * 1024;

fn ws<'js>(ctx: &Ctx<'js>, host: &Rc<Host>) -> Result<Object<'js>> {
    let module = evaluate_own(ctx, "k6/ws.js", include_str!("sockets/ws.js"))?;
    module.as_function().expect("ws.js is a function").call((natives(ctx, host)?,))
}

fn websockets<'js>(ctx: &Ctx<'js>, host: &Rc<Host>) -> Result<Object<'js>> {
    let module = evaluate_own(ctx, "k6/websockets.js", include_str!("sockets/websockets.js"))?;
    module.as_function().expect("websockets.js is a function").call((natives(ctx, host)?,))
}

/// What a script holds of a socket.
pub(crate) struct SocketHandle {
    ticket: Ticket,
    unsent: Rc<Cell<usize>>,
    /// Whose it is.
    seat: Rc<Seat>,
}

impl<'js> Trace<'js> for SocketHandle {
    fn trace<'a>(&self, _: Tracer<'a, 'js>) {}
}

impl<'js> JsClass<'js> for SocketHandle {
    const NAME: &'static str = "SocketHandle";
    type Mutable = Readable;

    fn prototype(_: &Ctx<'js>) -> Result<Option<Object<'js>>> {
        Ok(None)
    }

    fn constructor(_: &Ctx<'js>) -> Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}

type Handle<'js> = Class<'js, SocketHandle>;

/// The functions that both modules are made of.
fn natives<'js>(ctx: &Ctx<'js>, host: &Rc<Host>) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    let of = host.clone();
    let block = move |ctx: Ctx<'js>, url: String, params: Value<'js>, emit: Function<'js>| {
        let seat = of.seat_in_iteration(&ctx, "ws.connect()")?;
        open(&ctx, &of, seat, SocketManner::Blocking, (url, Vec::new(), &params), emit)
    };
    natives.set("block", Function::new(ctx.clone(), block)?)?;
    let of = host.clone();
    let start = move |ctx: Ctx<'js>, url: String, protocols: Vec<String>, params: Value<'js>, emit: Function<'js>| {
        let seat = of.seat_in_iteration(&ctx, "a WebSocket")?;
        open(&ctx, &of, seat, SocketManner::Standard, (url, protocols, &params), emit)
    };
    natives.set("open", Function::new(ctx.clone(), start)?)?;
    say(ctx, &natives)?;
    blocking(ctx, host, &natives)?;
    bytes(ctx, &natives)?;
    let parts = |ctx: Ctx<'js>, text: String| -> Result<Value<'js>> {
        let Ok(url) = Url::parse(&text) else { return Ok(Value::new_undefined(ctx)) };
        let parts = Object::new(ctx)?;
        parts.set("scheme", url.scheme())?;
        parts.set("fragment", url.fragment().unwrap_or_default())?;
        Ok(parts.into_value())
    };
    natives.set("parts", Function::new(ctx.clone(), parts)?)?;
    let of = host.clone();
    natives.set("warn", Function::new(ctx.clone(), move |text: String| of.meter.log(Level::Warn, text))?)?;
    let of = host.clone();
    let lack = move |ctx: Ctx<'js>, what: String| -> Result<()> {
        Err(of.seat().unsupported(&ctx, &format!("{what} is not supported yet")))
    };
    natives.set("lack", Function::new(ctx.clone(), lack)?)?;
    Ok(natives)
}

/// What is said to a socket.
fn say<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    let send = |ctx: Ctx<'js>, socket: Handle<'js>, data: Value<'js>| {
        let socket = socket.borrow();
        let word = match native::copy_bytes(&data) {
            Some(bytes) => SocketWord::Binary(bytes.into()),
            None => SocketWord::Text(text(&data)?),
        };
        let bytes = match &word {
            SocketWord::Text(text) => text.len(),
            SocketWord::Binary(bytes) => bytes.len(),
            SocketWord::Ping | SocketWord::Close { .. } => 0,
        };
        let unsent = socket.unsent.get() + bytes;
        if unsent > UNSENT_BYTES_MAX {
            let limit = UNSENT_BYTES_MAX / (1024 * 1024);
            let hint = "wait until some of it is sent (bufferedAmount tells how much is not)";
            let message = format!("more than {limit} MB of messages would wait to be sent on one WebSocket: {hint}");
            return Err(Exception::throw_range(&ctx, &message));
        }
        socket.unsent.set(unsent);
        event_loop::tell(&ctx, socket.ticket, Word::Socket(word))
    };
    natives.set("send", Function::new(ctx.clone(), send)?)?;
    let ping = |ctx: Ctx<'js>, socket: Handle<'js>| {
        event_loop::tell(&ctx, socket.borrow().ticket, Word::Socket(SocketWord::Ping))
    };
    natives.set("ping", Function::new(ctx.clone(), ping)?)?;
    let close = |ctx: Ctx<'js>, socket: Handle<'js>, code: Value<'js>, reason: Value<'js>| {
        let word = close_of(&ctx, &code, &reason)?;
        event_loop::tell(&ctx, socket.borrow().ticket, Word::Socket(word))
    };
    natives.set("close", Function::new(ctx.clone(), close)?)?;
    let drop = |ctx: Ctx<'js>, socket: Handle<'js>| {
        let socket = socket.borrow();
        event_loop::cancel_all(&ctx, &socket.seat, socket.ticket)
    };
    natives.set("drop", Function::new(ctx.clone(), drop)?)?;
    let unsent = |socket: Handle<'js>| socket.borrow().unsent.get() as f64;
    natives.set("unsent", Function::new(ctx.clone(), unsent)?)
}

fn close_of(ctx: &Ctx<'_>, code: &Value<'_>, reason: &Value<'_>) -> Result<SocketWord> {
    const REASON_BYTES_MAX: usize = 123;
    let number = code.as_number().filter(|code| code.fract() == 0.0 && (1000.0..5000.0).contains(code));
    let number = number.map(|code| code as u16).filter(|code| !matches!(code, 1004..=1006 | 1015));
    let Some(code) = number else {
        let wanted = "a number from 1000 to 4999 that may be sent (not 1004, 1005, 1006 or 1015)";
        return Err(Exception::throw_type(ctx, &format!("the code of a close must be {wanted}, not {}", text(code)?)));
    };
    let reason = if reason.is_undefined() { String::new() } else { text(reason)? };
    if reason.len() > REASON_BYTES_MAX {
        return Err(Exception::throw_type(ctx, "the reason of a close may have at most 123 bytes"));
    }
    Ok(SocketWord::Close { code, reason })
}

/// What the blocking sockets need beside.
fn blocking<'js>(ctx: &Ctx<'js>, host: &Rc<Host>, natives: &Object<'js>) -> Result<()> {
    let wait = |ctx: Ctx<'js>, socket: Handle<'js>| -> Result<()> {
        let socket = socket.borrow();
        while socket.seat.events.is_pending(socket.ticket) {
            event_loop::turn_for(&ctx, &socket.seat, socket.ticket)?;
        }
        Ok(())
    };
    natives.set("wait", Function::new(ctx.clone(), wait)?)?;
    let timer = |ctx: Ctx<'js>, socket: Handle<'js>, callback: Function<'js>, delay_ms: f64, repeats: bool| {
        let socket = socket.borrow();
        let rings = if repeats { Rings::Repeatedly } else { Rings::Once };
        let timer = timers::begin(&ctx, &socket.seat, callback, delay_ms, rings)?;
        socket.seat.events.adopt(timer, socket.ticket);
        Ok::<_, rquickjs::Error>(())
    };
    natives.set("timer", Function::new(ctx.clone(), timer)?)?;
    let of = host.clone();
    natives.set("throws", Function::new(ctx.clone(), move || of.meter.plan().http.throw)?)
}

/// Texts as bytes and back, for Blobs.
fn bytes<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    let encode = |ctx: Ctx<'js>, value: Value<'js>| ArrayBuffer::new_copy(ctx, text(&value)?.as_bytes());
    natives.set("encode", Function::new(ctx.clone(), encode)?)?;
    let decode = |value: Value<'js>| {
        native::copy_bytes(&value).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    };
    natives.set("decode", Function::new(ctx.clone(), decode)?)
}

/// Opens a socket; `emit(kind, …)` is told of what happens to it.
fn open<'js>(
    ctx: &Ctx<'js>,
    host: &Host,
    seat: Rc<Seat>,
    manner: SocketManner,
    (url, protocols, params): (String, Vec<String>, &Value<'js>),
    emit: Function<'js>,
) -> Result<Handle<'js>> {
    let unsent: Rc<Cell<usize>> = Rc::default();
    let (headers, tags) = (HeaderMap::new(), seat.tags.get());
    let jar = Some(seat.jar.clone());
    let mut request =
        SocketRequest { url: url.clone(), headers, jar, protocols, name: None, tags, manner, unsent: unsent.clone() };
    match params.as_object() {
        Some(params) => apply(ctx, host, &seat, &mut request, params)?,
        None if params.is_undefined() || params.is_null() => {}
        None => {
            let given = params.type_name();
            let message = format!("the parameters of a WebSocket must be an object, {given} was given");
            return Err(Exception::throw_type(ctx, &message));
        }
    }
    let ticket = seat.events.ticket();
    let handler = handler(url, Persistent::save(ctx, emit));
    event_loop::begin(ctx, &seat, ticket, Work::Socket(Box::new(request)), handler)?;
    Class::instance(ctx.clone(), SocketHandle { ticket, unsent, seat })
}

/// Applies the params. As in k6 only the class minds unknown ones.
fn apply<'js>(
    ctx: &Ctx<'js>,
    host: &Host,
    seat: &Seat,
    request: &mut SocketRequest,
    params: &Object<'js>,
) -> Result<()> {
    for pair in params.props::<String, Value<'js>>() {
        let (key, value) = pair?;
        if value.is_undefined() || value.is_null() {
            continue;
        }
        match key.as_str() {
            "headers" => k6_http::headers_of(ctx, &value, &mut request.headers)?,
            "tags" => {
                let pairs = tag_pairs(ctx, &value)?;
                let (names, others): (Vec<_>, Vec<_>) = pairs.iter().partition(|(key, _)| key == "name");
                request.name = names.first().map(|(_, name)| name.as_str().into());
                let others: Vec<_> = others.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
                if !others.is_empty() {
                    request.tags = host.meter.tags(request.tags, &others);
                }
            }
            // What is no jar stands for none at all, as for requests.
            "jar" => request.jar = Some(k6_http::jar_of(&value).unwrap_or_default()),
            "compression" => match text(&value)?.as_str() {
                "" => {}
                "deflate" => {
                    let sentence =
                        "the parameter compression: 'deflate' of a WebSocket is not supported yet: leave it out";
                    return Err(seat.unsupported(ctx, sentence));
                }
                other => {
                    let message =
                        format!("unsupported compression algorithm '{other}', supported algorithm is 'deflate'");
                    return Err(Exception::throw_type(ctx, &message));
                }
            },
            other if request.manner == SocketManner::Standard => {
                let known = "headers, tags, jar and compression";
                return Err(Exception::throw_type(
                    ctx,
                    &format!("unknown WebSocket's option '{other}': there are {known}"),
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

fn handler(url: String, emit: Persistent<Function<'static>>) -> Handler {
    Box::new(move |ctx, event| {
        let Event::Socket(event) = event else {
            return Err(Exception::throw_internal(ctx, "the engine told a WebSocket of something else"));
        };
        let emit = emit.clone().restore(ctx)?;
        match event {
            SocketEvent::Opened(answer) => {
                let response = response(ctx, &answer, &url, "")?;
                emit.call::<_, ()>(("open", response, answer.protocol))?;
            }
            SocketEvent::Refused(answer, why) => {
                let error = if answer.status == 0 { why.as_str() } else { "" };
                let response = response(ctx, &answer, "", error)?;
                emit.call::<_, ()>(("refused", response, why))?;
                return Ok(Flow::Ends);
            }
            SocketEvent::Text(text) => emit.call::<_, ()>(("text", text))?,
            SocketEvent::Binary(bytes) => {
                let buffer = ArrayBuffer::new_copy(ctx.clone(), &bytes)?;
                emit.call::<_, ()>(("binary", buffer))?;
            }
            SocketEvent::Ping => emit.call::<_, ()>(("ping",))?,
            SocketEvent::Pong => emit.call::<_, ()>(("pong",))?,
            SocketEvent::Failed(why) => emit.call::<_, ()>(("failed", why))?,
            SocketEvent::Closed { code, reason } => {
                emit.call::<_, ()>(("closed", code, reason))?;
                return Ok(Flow::Ends);
            }
        }
        Ok(Flow::GoesOn)
    })
}

/// What `ws.connect()` returns, in k6's form.
fn response<'js>(ctx: &Ctx<'js>, answer: &SocketAnswer, url: &str, error: &str) -> Result<Object<'js>> {
    let response = Object::new(ctx.clone())?;
    response.set("url", url)?;
    response.set("status", answer.status)?;
    response.set("headers", k6_http::headers(ctx, &answer.headers)?)?;
    response.set("body", String::from_utf8_lossy(&answer.body).into_js(ctx)?)?;
    response.set("error", error)?;
    Ok(response)
}
