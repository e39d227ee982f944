//! A user's gRPC channels: dialled like its HTTP connections, measured like its requests.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use bytes::Bytes;
use model::metric::MetricId;
use rustls::pki_types::ServerName;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_rustls::TlsConnector;
use url::Host;

use super::target::Origin;
use super::wire::{Counted, Transport};
use super::{Client, failure, source, tls};
use crate::alarm::{Alarm, Elapsed, Leash};
use crate::grpc::{Channel, ChannelSettings, Incoming, Opened, code};
use crate::meter::{Meter, TagSet};
use crate::user::{
    ChannelId, Event, Failure, GrpcAnswer, GrpcAsk, GrpcCall, GrpcConnect, GrpcReply, GrpcStatus, GrpcStream, Metadata,
    Word,
};

/// The channels of one user.
#[derive(Default)]
pub(super) struct Channels {
    next: Cell<u64>,
    open: RefCell<HashMap<ChannelId, Rc<Line>>>,
}

/// A channel and where it leads.
pub(crate) struct Line {
    pub(crate) channel: Rc<Channel>,
    address: String,
}

impl Client {
    /// Does something over gRPC; `None` if the scenario cut it off.
    pub(crate) async fn grpc(&self, ask: GrpcAsk, alarm: &mut Alarm, leash: &Leash) -> Option<GrpcAnswer> {
        Some(match ask {
            GrpcAsk::Connect(connect) => {
                let deadline = self.net.tally.clock.now() + connect.timeout;
                let opened = match alarm.wait(self.grpc_connect(&connect), deadline, leash).await {
                    Ok(opened) => opened,
                    Err(Elapsed::Deadline) => Err(Failure { code: 1211, text: "context deadline exceeded".to_owned() }),
                    Err(Elapsed::Cut) => return None,
                };
                match opened {
                    Ok(id) => GrpcAnswer::Opened(id),
                    Err(failure) => GrpcAnswer::NotOpened(failure),
                }
            }
            GrpcAsk::Call(call) => GrpcAnswer::Reply(self.grpc_call(call, alarm, leash).await?),
            GrpcAsk::Close(id) => {
                self.channels.open.borrow_mut().remove(&id);
                GrpcAnswer::Closed
            }
        })
    }

    /// The channel of this number, if it is open.
    pub(crate) fn grpc_line(&self, id: ChannelId) -> Option<Rc<Line>> {
        self.channels.open.borrow().get(&id).cloned()
    }

    async fn grpc_connect(&self, connect: &GrpcConnect) -> Result<ChannelId, Failure> {
        let net = &self.net;
        let origin = origin(&connect.address, connect.tls.is_some())?;
        let remote = net.resolver.address(&origin, net.tally.clock, net.network()).await?;
        net.gate.pass(&origin.host.to_string(), remote)?;
        let stream = source::connect(remote, self.from).await.map_err(|error| failure::dial(&error))?;
        stream.set_nodelay(true).map_err(|error| failure::dial(&error))?;
        let counted = Counted::new(Transport::Tcp(stream), self.traffic.clone(), net.tally.clone());
        let settings = ChannelSettings {
            scheme: if origin.tls { "https" } else { "http" },
            authority: connect.authority.clone().unwrap_or_else(|| connect.address.clone()),
            user_agent: net.defaults.user_agent.clone(),
            receive_bytes_max: connect.receive_bytes_max,
            send_bytes_max: connect.send_bytes_max,
        };
        let channel = match &connect.tls {
            None => Channel::open(counted, settings).await,
            Some(wanted) => {
                let config = tls::grpc_config(wanted, net.settings().insecure_skip_tls_verify)?;
                let name = server_name(&origin, connect.authority.as_deref())?;
                let connecting = TlsConnector::from(config).connect(name, counted);
                let stream = connecting.await.map_err(|error| failure::handshake(&error))?;
                Channel::open(stream, settings).await
            }
        };
        let channel = channel.map_err(|error| failure::other(format!("HTTP/2 cannot be agreed on: {error}")))?;
        let id = ChannelId(self.channels.next.replace(self.channels.next.get() + 1));
        let line = Rc::new(Line { channel, address: connect.address.clone() });
        self.channels.open.borrow_mut().insert(id, line);
        Ok(id)
    }

    /// Makes a call; `None` if the scenario cut it off.
    pub(crate) async fn grpc_call(&self, call: GrpcCall, alarm: &mut Alarm, leash: &Leash) -> Option<GrpcReply> {
        let tally = &self.net.tally;
        let Some(line) = self.grpc_line(call.channel) else {
            return Some(GrpcReply::failed(GrpcStatus::new(code::UNAVAILABLE, "the channel is closed")));
        };
        let began = tally.clock.now();
        leash.asks(began);
        let calling = line.channel.call(&call.path, &call.metadata, call.messages, Some(call.timeout.as_millis()));
        let reply = match alarm.wait(Box::pin(calling), began + call.timeout, leash).await {
            Ok(reply) => reply,
            Err(Elapsed::Deadline) => {
                GrpcReply::failed(GrpcStatus::new(code::DEADLINE_EXCEEDED, "context deadline exceeded"))
            }
            Err(Elapsed::Cut) => return None,
        };
        if let Some(tags) = call.tags {
            let tags = line.tags(&tally.meter, tags, &call.path);
            let tags = tally.meter.tags(tags, &[("status", &reply.status.code.to_string())]);
            let duration_ms = tally.clock.now().since(began).as_secs_f64() * 1e3;
            tally.meter.add(MetricId::GRPC_REQ_DURATION, duration_ms, tags);
        }
        Some(reply)
    }
}

impl Client {
    /// Carries a stream from its beginning to its end, telling what comes.
    pub(crate) async fn grpc_stream(
        &self,
        stream: GrpcStream,
        words: &mut UnboundedReceiver<Word>,
        tell: &dyn Fn(Event),
    ) {
        let tally = &self.net.tally;
        let Some(line) = self.grpc_line(stream.channel) else {
            let status = GrpcStatus::new(code::UNAVAILABLE, "the channel is closed");
            return tell(Event::GrpcEnded(Box::new((status, Metadata::new()))));
        };
        let began = tally.clock.now();
        let tags = line.tags(&tally.meter, stream.tags, &stream.path);
        tally.meter.add(MetricId::GRPC_STREAMS, 1.0, tags);
        let receive = |message| {
            tally.meter.add(MetricId::GRPC_STREAMS_MSGS_RECEIVED, 1.0, tags);
            tell(Event::GrpcMessage(message));
        };
        let talking = self.grpc_talk(&line, &stream, words, &receive);
        let end = match stream.timeout {
            None => talking.await,
            Some(timeout) => tokio::time::timeout(timeout, talking).await.unwrap_or_else(|_| {
                (GrpcStatus::new(code::DEADLINE_EXCEEDED, "context deadline exceeded"), Metadata::new())
            }),
        };
        let tags = tally.meter.tags(tags, &[("status", &end.0.code.to_string())]);
        let duration_ms = tally.clock.now().since(began).as_secs_f64() * 1e3;
        tally.meter.add(MetricId::GRPC_REQ_DURATION, duration_ms, tags);
        tell(Event::GrpcEnded(Box::new(end)));
    }

    /// Sends what it is told to and reads at the same time: neither side must wait for the other.
    async fn grpc_talk(
        &self,
        line: &Line,
        stream: &GrpcStream,
        words: &mut UnboundedReceiver<Word>,
        receive: &dyn Fn(Bytes),
    ) -> (GrpcStatus, Metadata) {
        let timeout_ms = stream.timeout.map(|timeout| timeout.as_millis());
        let opened = match line.channel.begin(&stream.path, &stream.metadata, timeout_ms).await {
            Ok(opened) => opened,
            Err(status) => return (status, Metadata::new()),
        };
        let Opened { mut outbound, mut inbound } = opened;
        let reading = async {
            loop {
                match inbound.next().await {
                    Incoming::Message(message) => receive(message),
                    Incoming::End(status, trailers) => return (status, trailers),
                }
            }
        };
        let meter = &self.net.tally.meter;
        let tags = line.tags(meter, stream.tags, &stream.path);
        let writing = async {
            while let Some(word) = words.recv().await {
                match word {
                    Word::GrpcSend(message) => {
                        if let Err(status) = outbound.send(message, false).await {
                            // What the server said is more than that it does not listen.
                            if status.code == code::RESOURCE_EXHAUSTED {
                                return (status, Metadata::new());
                            }
                            break;
                        }
                        meter.add(MetricId::GRPC_STREAMS_MSGS_SENT, 1.0, tags);
                    }
                    Word::GrpcFinish => outbound.end(),
                    Word::Cancel | Word::Socket(_) => break,
                }
            }
            std::future::pending().await
        };
        tokio::select! {
            end = reading => end,
            end = writing => end,
        }
    }
}

impl Line {
    /// `base` with what is known of a call from the beginning.
    pub(crate) fn tags(&self, meter: &Meter, base: TagSet, path: &str) -> TagSet {
        let (service, method) = path.trim_start_matches('/').rsplit_once('/').unwrap_or_default();
        let url = format!("{}{path}", self.address);
        meter.tags(base, &[("method", method), ("name", path), ("service", service), ("url", &url)])
    }
}

/// `host:port`, in the form that the resolver takes.
fn origin(address: &str, tls: bool) -> Result<Origin, Failure> {
    let wrong = |why: &str| Failure { code: 1210, text: format!("dial: address {address}: {why}") };
    let (host, port) = address.rsplit_once(':').ok_or_else(|| wrong("missing port in address"))?;
    if host.contains(':') && !(host.starts_with('[') && host.ends_with(']')) {
        return Err(wrong("too many colons in address"));
    }
    let port = port.parse().map_err(|_| wrong("the port is no number between 0 and 65535"))?;
    let host = Host::parse(host).map_err(|error| wrong(&error.to_string()))?;
    Ok(Origin { tls, host, port, unix: false })
}

fn server_name(origin: &Origin, authority: Option<&str>) -> Result<ServerName<'static>, Failure> {
    let name = match authority {
        Some(authority) => authority.rsplit_once(':').map_or(authority, |(host, _)| host).to_owned(),
        None => match &origin.host {
            Host::Domain(name) => name.clone(),
            Host::Ipv4(address) => return Ok(ServerName::from(std::net::IpAddr::from(*address))),
            Host::Ipv6(address) => return Ok(ServerName::from(std::net::IpAddr::from(*address))),
        },
    };
    ServerName::try_from(name).map_err(|error| failure::other(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_need_a_host_and_a_port() {
        let text = |address: &str| origin(address, false).unwrap_err().text;
        assert_eq!(text("127.0.0.1"), "dial: address 127.0.0.1: missing port in address");
        assert_eq!(text("http://127.0.0.1:9"), "dial: address http://127.0.0.1:9: too many colons in address");
        assert!(text("a:b").ends_with("the port is no number between 0 and 65535"));
        assert_eq!(
            origin("[::1]:5", true).unwrap(),
            Origin { tls: true, host: Host::Ipv6(std::net::Ipv6Addr::LOCALHOST), port: 5, unix: false }
        );
    }
}
