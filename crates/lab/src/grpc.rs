//! A gRPC service with every shape of call and every kind of field, with reflection and health. Must never know who
//! calls it.

use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::time::Duration;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use tokio_stream::wrappers::TcpListenerStream;
use tokio_stream::{Stream, StreamExt};
use tonic::metadata::{Ascii, MetadataKey, MetadataValue};
use tonic::{Code, Request, Response, Status, Streaming};

use crate::args::GrpcArgs;
use crate::stop::{Ending, StopSignals};
use crate::{laptop, os, out, serve};

#[expect(
    unreachable_pub,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    clippy::too_many_lines,
    reason = "generated from the protocol"
)]
mod generated {
    tonic::include_proto!("plimsoll.lab.v1");
}

use generated::route_server::{Route, RouteServer};
use generated::{Failure, Kinds, Number, Pause};

/// The protocol in the form that reflection gives out.
const PROTOSET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/route.protoset"));

const BACKLOG: i32 = 1024;

/// What the service prints once it listens: one line of JSON.
#[derive(Debug, Serialize, Deserialize)]
pub struct GrpcReady {
    /// Always true.
    pub ready: bool,
    /// Where it answers.
    pub url: String,
    /// Where it listens.
    pub listen: SocketAddr,
    /// The process to signal.
    pub pid: u32,
}

/// Serves until a stop signal.
pub fn run(arguments: &GrpcArgs) -> anyhow::Result<Ending> {
    if arguments.with_parent {
        laptop::end_with_parent()?;
    }
    os::raise_open_files();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut signals = StopSignals::listen()?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, arguments.port));
        let listener = serve::bind(address, BACKLOG).with_context(|| format!("could not listen on {address}"))?;
        let listen = listener.local_addr().context("could not learn the address that the service listens on")?;
        let reflection = tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(PROTOSET)
            .build_v1()
            .context("the protocol cannot be given out by reflection")?;
        let older = tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(PROTOSET)
            .build_v1alpha()
            .context("the protocol cannot be given out by reflection")?;
        let (health, health_service) = tonic_health::server::health_reporter();
        health.set_serving::<RouteServer<Routes>>().await;
        let server = tonic::transport::Server::builder()
            .add_service(RouteServer::new(Routes))
            .add_service(health_service)
            .add_service(reflection)
            .add_service(older)
            .serve_with_incoming(TcpListenerStream::new(listener));
        out::json(&GrpcReady { ready: true, url: format!("http://{listen}"), listen, pid: std::process::id() })?;
        tokio::select! {
            _ = signals.next() => Ok(Ending::Graceful),
            outcome = server => {
                outcome.context("the server failed")?;
                anyhow::bail!("the server ended unexpectedly")
            }
        }
    })
}

struct Routes;

type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[tonic::async_trait]
impl Route for Routes {
    async fn echo(&self, request: Request<Kinds>) -> Result<Response<Kinds>, Status> {
        let (metadata, _, kinds) = request.into_parts();
        let mut response = Response::new(kinds);
        for entry in metadata.iter() {
            if let tonic::metadata::KeyAndValueRef::Ascii(key, value) = entry
                && let Ok(key) = MetadataKey::<Ascii>::from_bytes(format!("echo-{key}").as_bytes())
            {
                response.metadata_mut().append(key, value.clone());
            }
        }
        response.metadata_mut().insert("answered-by", MetadataValue::from_static("lab"));
        Ok(response)
    }

    async fn fail(&self, request: Request<Failure>) -> Result<Response<()>, Status> {
        let Failure { code, text } = request.into_inner();
        let mut status = Status::new(Code::from_i32(code), text);
        status.metadata_mut().insert("why", MetadataValue::from_static("asked for"));
        Err(status)
    }

    async fn slow(&self, request: Request<Pause>) -> Result<Response<()>, Status> {
        let wanted = u64::try_from(request.into_inner().milliseconds).unwrap_or(0);
        tokio::time::sleep(Duration::from_millis(wanted.min(60_000))).await;
        Ok(Response::new(()))
    }

    type CountStream = Answers<Number>;

    async fn count(&self, request: Request<Number>) -> Result<Response<Self::CountStream>, Status> {
        let last = request.into_inner().value.min(100_000);
        Ok(Response::new(Box::pin(tokio_stream::iter((1..=last).map(|value| Ok(Number { value }))))))
    }

    async fn sum(&self, request: Request<Streaming<Number>>) -> Result<Response<Number>, Status> {
        let mut numbers = request.into_inner();
        let mut value = 0i64;
        while let Some(number) = numbers.next().await {
            value = value.wrapping_add(number?.value);
        }
        Ok(Response::new(Number { value }))
    }

    type DoubleStream = Answers<Number>;

    async fn double(&self, request: Request<Streaming<Number>>) -> Result<Response<Self::DoubleStream>, Status> {
        let doubled = request.into_inner().map(|number| number.map(|Number { value }| Number { value: value * 2 }));
        Ok(Response::new(Box::pin(doubled)))
    }
}
