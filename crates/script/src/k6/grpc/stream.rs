//! Streams: messages go and come while the script does other things, and handlers hear of what comes.

use std::cell::Cell;
use std::rc::Rc;

use engine::user::{Event, GrpcStream, Ticket, Word, Work};
use model::record::Level;
use prost_reflect::MethodDescriptor;
use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::function::Constructor;
use rquickjs::{Class, Ctx, Function, Object, Persistent, Result, Value};

use super::{Client, call, params, strange};
use crate::event_loop::{self, Flow, Handler};
use crate::host::{Host, Seat};

/// What a script holds of a stream.
pub(crate) struct GrpcStreamHandle {
    ticket: Ticket,
    method: MethodDescriptor,
    /// Whose it is.
    seat: Rc<Seat>,
    finished: Cell<bool>,
}

impl<'js> Trace<'js> for GrpcStreamHandle {
    fn trace<'a>(&self, _: Tracer<'a, 'js>) {}
}

impl<'js> JsClass<'js> for GrpcStreamHandle {
    const NAME: &'static str = "GrpcStreamHandle";
    type Mutable = Readable;

    fn prototype(_: &Ctx<'js>) -> Result<Option<Object<'js>>> {
        Ok(None)
    }

    fn constructor(_: &Ctx<'js>) -> Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}

type Handle<'js> = Class<'js, GrpcStreamHandle>;

/// Adds the functions of streams.
pub(super) fn install<'js>(ctx: &Ctx<'js>, host: &Rc<Host>, natives: &Object<'js>) -> Result<()> {
    let of = host.clone();
    let open = move |ctx: Ctx<'js>, client: Client<'js>, method: Value<'js>, given: Value<'js>, emit: Function<'js>| {
        open(&ctx, &of, &client, &method, &given, emit)
    };
    natives.set("stream", Function::new(ctx.clone(), open)?)?;
    let of = host.clone();
    let write = move |ctx: Ctx<'js>, stream: Handle<'js>, message: Value<'js>| write(&ctx, &of, &stream, &message);
    natives.set("write", Function::new(ctx.clone(), write)?)?;
    let finish = |ctx: Ctx<'js>, stream: Handle<'js>| finish(&ctx, &stream);
    natives.set("finish", Function::new(ctx.clone(), finish)?)?;
    let cancel = |ctx: Ctx<'js>, stream: Handle<'js>| {
        let stream = stream.borrow();
        event_loop::cancel(&ctx, &stream.seat, stream.ticket)
    };
    natives.set("cancel", Function::new(ctx.clone(), cancel)?)?;
    Ok(())
}

/// Opens a stream; `emit(kind, value)` is told of what comes.
fn open<'js>(
    ctx: &Ctx<'js>,
    host: &Host,
    client: &Client<'js>,
    method: &Value<'js>,
    given: &Value<'js>,
    emit: Function<'js>,
) -> Result<Handle<'js>> {
    let seat = host.seat_in_iteration(ctx, "a gRPC stream")?;
    let channel = call::channel(ctx, client)?;
    let (path, method) = call::method_of(ctx, client, method)?;
    let params = params::stream(ctx, given)?;
    let tags = match &params.tags {
        Some(tags) => host.script_tags(ctx, seat.tags.get(), tags)?,
        None => seat.tags.get(),
    };
    let stream = GrpcStream { channel, path, metadata: params.metadata, timeout: params.timeout, tags };
    let emit = Persistent::save(ctx, emit);
    let handler = handler(method.clone(), emit);
    let ticket = seat.events.ticket();
    event_loop::begin(ctx, &seat, ticket, Work::GrpcStream(Box::new(stream)), handler)?;
    let handle = GrpcStreamHandle { ticket, method, seat, finished: Cell::new(false) };
    Class::instance(ctx.clone(), handle)
}

fn handler(method: MethodDescriptor, emit: Persistent<Function<'static>>) -> Handler {
    Box::new(move |ctx, event| {
        let emit = emit.clone().restore(ctx)?;
        match event {
            Event::GrpcMessage(message) => {
                let message = call::decoded(ctx, &method, &message)?;
                emit.call::<_, ()>(("data", message))?;
                Ok(Flow::GoesOn)
            }
            Event::GrpcEnded(end) => {
                let (status, _) = *end;
                if status.code != 0 {
                    emit.call::<_, ()>(("error", call::error(ctx, &status)?))?;
                }
                emit.call::<_, ()>(("end",))?;
                Ok(Flow::Ends)
            }
            _ => Err(strange(ctx)),
        }
    })
}

/// Sends a message; returns what is wrong with it, if anything is.
fn write<'js>(ctx: &Ctx<'js>, host: &Host, stream: &Handle<'js>, message: &Value<'js>) -> Result<Option<String>> {
    let stream = stream.borrow();
    if stream.finished.get() {
        host.meter
            .log(Level::Warn, format!("{}: a message written behind end() is not sent", stream.method.full_name()));
        return Ok(None);
    }
    match call::encoded(ctx, &stream.method, message)? {
        Ok(message) => event_loop::tell(ctx, stream.ticket, Word::GrpcSend(message)).map(|()| None),
        Err(wrong) => Ok(Some(format!("can't serialise request object to protocol buffer: {wrong}"))),
    }
}

fn finish(ctx: &Ctx<'_>, stream: &Handle<'_>) -> Result<()> {
    let stream = stream.borrow();
    if stream.finished.replace(true) { Ok(()) } else { event_loop::tell(ctx, stream.ticket, Word::GrpcFinish) }
}
