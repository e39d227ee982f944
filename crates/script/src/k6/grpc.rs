//! `k6/net/grpc`: calls to gRPC services whose messages are known only when the script runs, from .proto files,
//! protosets or the server's own reflection.

mod call;
mod json;
mod params;
pub(crate) mod protos;
mod reflection;
mod stream;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use engine::user::{Answer, Ask, ChannelId, GrpcAnswer, GrpcAsk};
use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::function::{Constructor, Opt, Rest};
use rquickjs::{Array, Class, Ctx, Exception, Function, Object, Result, Value};

use super::Builtin;
use crate::host::{Host, text};
use crate::native;
use crate::realm::evaluate_own;
use protos::Protos;

pub(crate) use stream::GrpcStreamHandle;

pub(super) const MODULE: Builtin = Builtin {
    name: "k6/net/grpc",
    exports: &[
        "Client",
        "HealthCheckNotServing",
        "HealthCheckServing",
        "HealthCheckUnknown",
        "StatusAborted",
        "StatusAlreadyExists",
        "StatusCanceled",
        "StatusDataLoss",
        "StatusDeadlineExceeded",
        "StatusFailedPrecondition",
        "StatusInternal",
        "StatusInvalidArgument",
        "StatusNotFound",
        "StatusOK",
        "StatusOutOfRange",
        "StatusPermissionDenied",
        "StatusResourceExhausted",
        "StatusUnauthenticated",
        "StatusUnavailable",
        "StatusUnimplemented",
        "StatusUnknown",
        "Stream",
    ],
    make,
};

/// What a client of a script knows.
#[derive(Default)]
pub(crate) struct GrpcClient {
    protos: RefCell<Protos>,
    channel: Cell<Option<ChannelId>>,
}

impl<'js> Trace<'js> for GrpcClient {
    fn trace<'a>(&self, _: Tracer<'a, 'js>) {}
}

impl<'js> JsClass<'js> for GrpcClient {
    const NAME: &'static str = "GrpcClient";
    type Mutable = Readable;

    fn prototype(_: &Ctx<'js>) -> Result<Option<Object<'js>>> {
        Ok(None)
    }

    fn constructor(_: &Ctx<'js>) -> Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}

type Client<'js> = Class<'js, GrpcClient>;

fn make<'js>(ctx: &Ctx<'js>, host: &Rc<Host>) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    let client = |ctx: Ctx<'js>| Class::instance(ctx, GrpcClient::default());
    natives.set("client", Function::new(ctx.clone(), client)?)?;
    let of = host.clone();
    let load = move |ctx: Ctx<'js>, client: Client<'js>, paths: Value<'js>, files: Rest<Value<'js>>| {
        load(&ctx, &of, &client, &paths, &files.0)
    };
    natives.set("load", Function::new(ctx.clone(), load)?)?;
    let of = host.clone();
    let protoset = move |ctx: Ctx<'js>, client: Client<'js>, file: Value<'js>| protoset(&ctx, &of, &client, &file);
    natives.set("loadProtoset", Function::new(ctx.clone(), protoset)?)?;
    let of = host.clone();
    let connect = move |ctx: Ctx<'js>, client: Client<'js>, address: Value<'js>, params: Opt<Value<'js>>| {
        connect(&ctx, &of, &client, &address, params.0.as_ref())
    };
    natives.set("connect", Function::new(ctx.clone(), connect)?)?;
    let of = host.clone();
    let invoke = move |ctx: Ctx<'js>, client: Client<'js>, method: Value<'js>, rest: Rest<Value<'js>>| {
        call::invoke(&ctx, &of, &client, &method, &rest.0)
    };
    natives.set("invoke", Function::new(ctx.clone(), invoke)?)?;
    let of = host.clone();
    let invoke = move |ctx: Ctx<'js>, client: Client<'js>, method: Value<'js>, rest: Rest<Value<'js>>| {
        call::async_invoke(&ctx, &of, &client, &method, &rest.0)
    };
    natives.set("asyncInvoke", Function::new(ctx.clone(), invoke)?)?;
    stream::install(ctx, host, &natives)?;
    let of = host.clone();
    let health = move |ctx: Ctx<'js>, client: Client<'js>, service: Opt<Value<'js>>| {
        call::health(&ctx, &of, &client, service.0.as_ref())
    };
    natives.set("healthCheck", Function::new(ctx.clone(), health)?)?;
    natives.set("close", Function::new(ctx.clone(), |ctx: Ctx<'js>, client: Client<'js>| close(&ctx, &client))?)?;
    let module = evaluate_own(ctx, "k6/grpc.js", include_str!("grpc/grpc.js"))?;
    module.as_function().expect("grpc.js is a function").call((natives,))
}

fn load<'js>(
    ctx: &Ctx<'js>,
    host: &Host,
    client: &Client<'js>,
    paths: &Value<'js>,
    files: &[Value<'js>],
) -> Result<Array<'js>> {
    host.in_init(ctx, "Client.load() of k6/net/grpc")?;
    let paths: Vec<String> = match paths.as_array() {
        Some(list) => list.iter::<Value<'js>>().map(|path| text(&path?)).collect::<Result<_>>()?,
        None if paths.is_undefined() || paths.is_null() => Vec::new(),
        None => return Err(Exception::throw_type(ctx, "load(): the import paths must be an array of folders")),
    };
    let files = files.iter().map(text).collect::<Result<Vec<_>>>()?;
    let loaded = protos::load(&host.world, &paths, &files).map_err(|error| thrown(ctx, &error))?;
    add(ctx, client, &loaded)
}

fn protoset<'js>(ctx: &Ctx<'js>, host: &Host, client: &Client<'js>, file: &Value<'js>) -> Result<Array<'js>> {
    host.in_init(ctx, "Client.loadProtoset() of k6/net/grpc")?;
    let loaded = protos::load_protoset(&host.world, &text(file)?).map_err(|error| thrown(ctx, &error))?;
    add(ctx, client, &loaded)
}

fn add<'js>(ctx: &Ctx<'js>, client: &Client<'js>, loaded: &Protos) -> Result<Array<'js>> {
    let state = client.borrow();
    state.protos.borrow_mut().merge(loaded).map_err(|error| thrown(ctx, &error))?;
    let list = Array::new(ctx.clone())?;
    for (index, method) in loaded.methods().enumerate() {
        let entry = Object::new(ctx.clone())?;
        let service = method.parent_service();
        entry.set("package", service.package_name())?;
        entry.set("service", service.name())?;
        entry.set("full_method", format!("/{}/{}", service.full_name(), method.name()))?;
        entry.set("name", method.name())?;
        entry.set("is_client_stream", method.is_client_streaming())?;
        entry.set("is_server_stream", method.is_server_streaming())?;
        list.set(index, entry)?;
    }
    Ok(list)
}

fn connect<'js>(
    ctx: &Ctx<'js>,
    host: &Host,
    client: &Client<'js>,
    address: &Value<'js>,
    params: Option<&Value<'js>>,
) -> Result<bool> {
    host.seat_in_iteration(ctx, "connecting to a gRPC server")?;
    let address = text(address)?;
    let params = params::connect(ctx, &address, params)?;
    close(ctx, client)?;
    let reflects = params.reflects;
    let id = match ask(ctx, GrpcAsk::Connect(params.connect))? {
        GrpcAnswer::Opened(id) => id,
        GrpcAnswer::NotOpened(failure) => {
            let message = format!("connection error: {address}: {}", failure.text);
            return Err(Exception::throw_message(ctx, &message));
        }
        _ => return Err(strange(ctx)),
    };
    client.borrow().channel.set(Some(id));
    if let Some(metadata) = reflects {
        let found = reflection::read(&mut |messages| call::plain(ctx, id, messages, &metadata))?;
        let found = found.map_err(|error| thrown(ctx, &error))?;
        let state = client.borrow();
        state.protos.borrow_mut().merge(&found).map_err(|error| thrown(ctx, &error))?;
    }
    Ok(true)
}

fn close(ctx: &Ctx<'_>, client: &Client<'_>) -> Result<()> {
    if let Some(id) = client.borrow().channel.take() {
        ask(ctx, GrpcAsk::Close(id))?;
    }
    Ok(())
}

/// Asks the engine and waits.
fn ask(ctx: &Ctx<'_>, wanted: GrpcAsk) -> Result<GrpcAnswer> {
    match native::ask(ctx, Ask::Grpc(Box::new(wanted)))? {
        Answer::Grpc(answer) => Ok(*answer),
        _ => Err(strange(ctx)),
    }
}

fn strange(ctx: &Ctx<'_>) -> rquickjs::Error {
    Exception::throw_internal(ctx, "the engine answered a gRPC call with something else")
}

/// What went wrong, as an exception of the script.
fn thrown(ctx: &Ctx<'_>, error: &dyn std::error::Error) -> rquickjs::Error {
    Exception::throw_message(ctx, &error.to_string())
}
