//! Calls that wait for their answer, and the answer as scripts see it.

use bytes::Bytes;
use engine::user::{ChannelId, Event, GrpcAnswer, GrpcAsk, GrpcCall, GrpcReply, GrpcStatus, Metadata, Work};
use prost_reflect::MethodDescriptor;
use rquickjs::{Ctx, Exception, Object, Promise, Result, Value};

use super::{Client, ask, json, params, strange, thrown};
use crate::event_loop;
use crate::host::{Host, Seat, text};

const OK: u32 = 0;
const UNKNOWN: u32 = 2;

/// What a call sends, and what is known of its answer.
pub(super) struct Prepared {
    pub(super) call: GrpcCall,
    pub(super) method: MethodDescriptor,
    pub(super) discards_message: bool,
}

/// `invoke(method, message, params)`.
pub(super) fn invoke<'js>(
    ctx: &Ctx<'js>,
    host: &Host,
    client: &Client<'js>,
    method: &Value<'js>,
    rest: &[Value<'js>],
) -> Result<Object<'js>> {
    let seat = host.seat_in_iteration(ctx, "a gRPC call")?;
    let prepared = prepare(ctx, host, &seat, client, method, rest)?;
    send(ctx, prepared)
}

/// `asyncInvoke(method, message, params)`: a promise of the answer.
pub(super) fn async_invoke<'js>(
    ctx: &Ctx<'js>,
    host: &Host,
    client: &Client<'js>,
    method: &Value<'js>,
    rest: &[Value<'js>],
) -> Result<Promise<'js>> {
    let begin = || {
        let seat = host.seat_in_iteration(ctx, "a gRPC call")?;
        let Prepared { call, method, discards_message } = prepare(ctx, host, &seat, client, method, rest)?;
        event_loop::promise(ctx, &seat, Work::GrpcCall(Box::new(call)), move |ctx, event| match event {
            Event::GrpcReply(reply) => answer(ctx, *reply, &method, discards_message).map(Object::into_value),
            _ => Err(strange(ctx)),
        })
    };
    begin().or_else(|error| {
        let (promise, resolve, reject) = ctx.promise()?;
        event_loop::conclude(ctx, Err(error), &resolve, &reject)?;
        Ok(promise)
    })
}

/// `healthCheck(service)`, by the protocol that gRPC has for it.
pub(super) fn health<'js>(
    ctx: &Ctx<'js>,
    host: &Host,
    client: &Client<'js>,
    service: Option<&Value<'js>>,
) -> Result<Object<'js>> {
    let seat = host.seat_in_iteration(ctx, "a gRPC call")?;
    let service = service.filter(|service| !service.is_undefined() && !service.is_null());
    let service = service.map(text).transpose()?.unwrap_or_default();
    let protos = super::protos::health();
    let method = protos.method("grpc.health.v1.Health/Check").expect("the protocol of health has this method");
    let message = serde_json::json!({ "service": service }).to_string();
    let message = json::encode(method.input(), &message).expect("the message is made for this method");
    let call = GrpcCall {
        channel: channel(ctx, client)?,
        path: "/grpc.health.v1.Health/Check".to_owned(),
        metadata: Metadata::new(),
        messages: vec![message],
        timeout: params::call(ctx, None, "client.healthCheck()")?.timeout,
        tags: Some(seat.tags.get()),
    };
    send(ctx, Prepared { call, method, discards_message: false })
}

/// A call outside of what scripts see: its answer as it is.
pub(super) fn plain(
    ctx: &Ctx<'_>,
    channel: ChannelId,
    (path, messages): (&str, Vec<Bytes>),
    metadata: &Metadata,
) -> Result<GrpcReply> {
    let timeout = params::call(ctx, None, "reflection")?.timeout;
    let (path, metadata) = (path.to_owned(), metadata.clone());
    match ask(ctx, GrpcAsk::Call(GrpcCall { channel, path, metadata, messages, timeout, tags: None }))? {
        GrpcAnswer::Reply(reply) => Ok(reply),
        _ => Err(strange(ctx)),
    }
}

pub(super) fn channel(ctx: &Ctx<'_>, client: &Client<'_>) -> Result<ChannelId> {
    let channel = client.borrow().channel.get();
    channel.ok_or_else(|| Exception::throw_message(ctx, "no gRPC connection, you must call connect first"))
}

/// Everything that can be wrong before a call is sent.
pub(super) fn prepare<'js>(
    ctx: &Ctx<'js>,
    host: &Host,
    seat: &Seat,
    client: &Client<'js>,
    method: &Value<'js>,
    rest: &[Value<'js>],
) -> Result<Prepared> {
    let channel = channel(ctx, client)?;
    let (path, method) = method_of(ctx, client, method)?;
    let message = rest.first().filter(|message| !message.is_undefined());
    let message = message.ok_or_else(|| Exception::throw_message(ctx, "request cannot be nil"))?;
    if message.is_null() {
        return Err(Exception::throw_type(ctx, "the message of a gRPC call cannot be null: give an object"));
    }
    let params = params::call(ctx, rest.get(1), "client.invoke()")?;
    let message = encoded(ctx, &method, message)?.map_err(|error| {
        Exception::throw_message(ctx, &format!("unable to serialise request object to protocol buffer: {error}"))
    })?;
    let tags = match &params.tags {
        Some(tags) => host.script_tags(ctx, seat.tags.get(), tags)?,
        None => seat.tags.get(),
    };
    let call = GrpcCall {
        channel,
        path,
        metadata: params.metadata,
        messages: vec![message],
        timeout: params.timeout,
        tags: Some(tags),
    };
    Ok(Prepared { call, method, discards_message: params.discards_message })
}

/// A script's object as a message of what `method` takes, or what does not fit.
pub(super) fn encoded<'js>(
    ctx: &Ctx<'js>,
    method: &MethodDescriptor,
    message: &Value<'js>,
) -> Result<std::result::Result<Bytes, String>> {
    let message = ctx.json_stringify(message.clone())?;
    let message = message.map(|message| message.to_string()).transpose()?.unwrap_or_else(|| "{}".to_owned());
    Ok(json::encode(method.input(), &message))
}

/// A message that came, as an object of the script.
pub(super) fn decoded<'js>(ctx: &Ctx<'js>, method: &MethodDescriptor, message: &[u8]) -> Result<Value<'js>> {
    let json = json::decode(method.output(), message).map_err(|error| {
        Exception::throw_message(ctx, &format!("the answer is no {}: {error}", method.output().full_name()))
    })?;
    ctx.json_parse(json)
}

/// The method that a script names, and its path.
pub(super) fn method_of<'js>(
    ctx: &Ctx<'js>,
    client: &Client<'js>,
    method: &Value<'js>,
) -> Result<(String, MethodDescriptor)> {
    let name = text(method)?;
    if name.is_empty() {
        return Err(Exception::throw_message(ctx, "method to invoke cannot be empty"));
    }
    let path = if name.starts_with('/') { name } else { format!("/{name}") };
    let known = client.borrow().protos.borrow().method(&path);
    let method = known
        .ok_or_else(|| Exception::throw_message(ctx, &format!("method \"{path}\" not found in file descriptors")))?;
    Ok((path, method))
}

fn send<'js>(ctx: &Ctx<'js>, prepared: Prepared) -> Result<Object<'js>> {
    let Prepared { call, method, discards_message } = prepared;
    match ask(ctx, GrpcAsk::Call(call))? {
        GrpcAnswer::Reply(reply) => answer(ctx, reply, &method, discards_message),
        _ => Err(strange(ctx)),
    }
}

/// `{status, message, headers, trailers, error}`.
pub(super) fn answer<'js>(
    ctx: &Ctx<'js>,
    mut reply: GrpcReply,
    method: &MethodDescriptor,
    discards_message: bool,
) -> Result<Object<'js>> {
    if reply.status.code == OK && reply.messages.len() != 1 {
        reply.status.code = UNKNOWN;
        reply.status.text = format!(
            "{} answered with {} messages where one belongs: use a Stream",
            method.full_name(),
            reply.messages.len()
        );
    }
    let message = match reply.messages.first() {
        _ if discards_message => Value::new_null(ctx.clone()),
        Some(message) => decoded(ctx, method, message)?,
        None => Object::new(ctx.clone())?.into_value(),
    };
    let object = Object::new(ctx.clone())?;
    object.set("status", reply.status.code)?;
    object.set("message", message)?;
    object.set("headers", lists(ctx, &reply.headers)?)?;
    object.set("trailers", lists(ctx, &reply.trailers)?)?;
    object.set("error", error(ctx, &reply.status)?)?;
    Ok(object)
}

/// `{code, message, details}`, or null.
pub(super) fn error<'js>(ctx: &Ctx<'js>, status: &GrpcStatus) -> Result<Value<'js>> {
    if status.code == OK {
        return Ok(Value::new_null(ctx.clone()));
    }
    let error = Object::new(ctx.clone())?;
    error.set("code", status.code)?;
    error.set("message", status.text.as_str())?;
    let details = status.details.as_deref().map(super::protos::details).transpose();
    let details = details.map_err(|error| thrown(ctx, &error))?.unwrap_or_else(|| "[]".to_owned());
    error.set("details", ctx.json_parse(details)?)?;
    Ok(error.into_value())
}

fn lists<'js>(ctx: &Ctx<'js>, metadata: &Metadata) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    for (name, _) in metadata {
        if !object.contains_key(name.as_str())? {
            let values = metadata.iter().filter(|(other, _)| other == name);
            let values: Vec<_> = values.map(|(_, value)| String::from_utf8_lossy(value).into_owned()).collect();
            object.set(name.as_str(), values)?;
        }
    }
    Ok(object)
}
