//! gRPC over one HTTP/2 connection: messages are bytes here, whoever makes them knows what they mean. A call that fails
//! is data: it comes back with a status, as the protocol has it.

mod frames;
mod status;
#[cfg(test)]
mod tests;

use std::future::poll_fn;
use std::rc::Rc;

use bytes::{Bytes, BytesMut};
use h2::client::{ResponseFuture, SendRequest};
use h2::{RecvStream, SendStream};
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue, TE, USER_AGENT};
use http::{HeaderMap, Method, Request, Uri, Version};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;

use crate::user::{GrpcReply, GrpcStatus, Metadata};
use frames::Frames;

pub(crate) use status::code;

/// What flows back before the receiver reads it, per stream and per connection.
const WINDOW_BYTES: u32 = 1 << 20;

/// A connection to a gRPC server.
pub(crate) struct Channel {
    sender: SendRequest<Bytes>,
    driver: JoinHandle<()>,
    settings: ChannelSettings,
}

/// What a channel is to be.
#[derive(Clone, Debug)]
pub(crate) struct ChannelSettings {
    /// `:scheme` and `:authority` of all calls.
    pub(crate) scheme: &'static str,
    pub(crate) authority: String,
    pub(crate) user_agent: Option<HeaderValue>,
    /// Most bytes of a message that comes.
    pub(crate) receive_bytes_max: usize,
    /// Most bytes of a message that goes.
    pub(crate) send_bytes_max: usize,
}

/// A call that has begun.
pub(crate) struct Opened {
    pub(crate) outbound: Outbound,
    pub(crate) inbound: Inbound,
}

/// The sending half of a call.
pub(crate) struct Outbound {
    stream: SendStream<Bytes>,
    bytes_max: usize,
}

/// The receiving half of a call.
pub(crate) struct Inbound {
    state: Reading,
    frames: Frames,
    /// Headers of the answer, once they are there.
    pub(crate) headers: Metadata,
}

enum Reading {
    Head(Box<ResponseFuture>),
    Body(Box<RecvStream>),
    Ended(Box<(GrpcStatus, Metadata)>),
}

/// What comes next on a call.
pub(crate) enum Incoming {
    Message(Bytes),
    /// The status and the trailers; nothing comes behind it.
    End(GrpcStatus, Metadata),
}

impl Channel {
    /// Agrees on HTTP/2 over `io`. Must run in a `LocalSet`.
    pub(crate) async fn open<Io>(io: Io, settings: ChannelSettings) -> Result<Rc<Self>, h2::Error>
    where
        Io: AsyncRead + AsyncWrite + Unpin + 'static,
    {
        let mut builder = h2::client::Builder::new();
        builder.initial_window_size(WINDOW_BYTES).initial_connection_window_size(WINDOW_BYTES).enable_push(false);
        let (sender, connection) = builder.handshake(io).await?;
        let driver = tokio::task::spawn_local(async move {
            // Its end reaches the calls that are under way.
            let _ = connection.await;
        });
        Ok(Rc::new(Self { sender, driver, settings }))
    }

    /// Begins a call of the method at `path`.
    pub(crate) async fn begin(
        &self,
        path: &str,
        metadata: &Metadata,
        timeout_ms: Option<u128>,
    ) -> Result<Opened, GrpcStatus> {
        let mut sender = self.sender.clone().ready().await.map_err(|error| status::of(&error))?;
        let request = self.head(path, metadata, timeout_ms)?;
        let (response, stream) = sender.send_request(request, false).map_err(|error| status::of(&error))?;
        let outbound = Outbound { stream, bytes_max: self.settings.send_bytes_max };
        let frames = Frames::new(self.settings.receive_bytes_max);
        let inbound = Inbound { state: Reading::Head(Box::new(response)), frames, headers: Metadata::new() };
        Ok(Opened { outbound, inbound })
    }

    /// A whole call: sends all messages, then reads until the end.
    pub(crate) async fn call(
        &self,
        path: &str,
        metadata: &Metadata,
        messages: Vec<Bytes>,
        timeout_ms: Option<u128>,
    ) -> GrpcReply {
        let Opened { mut outbound, mut inbound } = match self.begin(path, metadata, timeout_ms).await {
            Ok(opened) => opened,
            Err(status) => return GrpcReply::failed(status),
        };
        let last = messages.len().saturating_sub(1);
        for (index, message) in messages.into_iter().enumerate() {
            // A server may answer before it has read everything: its status says more than the broken sending.
            if let Err(status) = outbound.send(message, index == last).await {
                if status.code == code::RESOURCE_EXHAUSTED {
                    return GrpcReply::failed(status);
                }
                break;
            }
        }
        let mut messages = Vec::new();
        loop {
            match inbound.next().await {
                Incoming::Message(message) => messages.push(message),
                Incoming::End(status, trailers) => {
                    return GrpcReply { status, messages, headers: inbound.headers, trailers };
                }
            }
        }
    }

    fn head(&self, path: &str, metadata: &Metadata, timeout_ms: Option<u128>) -> Result<Request<()>, GrpcStatus> {
        let wrong = |error: http::Error| GrpcStatus::new(code::INTERNAL, format!("the call cannot be sent: {error}"));
        let ChannelSettings { scheme, authority, user_agent, .. } = &self.settings;
        let uri = Uri::builder().scheme(*scheme).authority(authority.as_str()).path_and_query(path);
        let uri = uri.build().map_err(wrong)?;
        let request = Request::builder().method(Method::POST).uri(uri).version(Version::HTTP_2);
        let mut request = request.body(()).map_err(wrong)?;
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
        headers.insert(TE, HeaderValue::from_static("trailers"));
        headers.insert("grpc-accept-encoding", HeaderValue::from_static("gzip"));
        if let Some(user_agent) = user_agent {
            headers.insert(USER_AGENT, user_agent.clone());
        }
        if let Some(timeout_ms) = timeout_ms {
            // The protocol allows eight digits.
            let timeout = format!("{}m", timeout_ms.clamp(1, 99_999_999));
            headers.insert("grpc-timeout", HeaderValue::try_from(timeout).map_err(|error| wrong(error.into()))?);
        }
        for (name, value) in metadata {
            let name =
                HeaderName::from_bytes(name.to_ascii_lowercase().as_bytes()).map_err(|error| wrong(error.into()))?;
            let is_binary = name.as_str().ends_with("-bin");
            let value = if is_binary { status::packed(value).into() } else { value.to_vec() };
            headers.append(name, HeaderValue::try_from(value).map_err(|error| wrong(error.into()))?);
        }
        Ok(request)
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Outbound {
    /// Sends a message, and with `last` the end.
    pub(crate) async fn send(&mut self, message: Bytes, last: bool) -> Result<(), GrpcStatus> {
        if message.len() > self.bytes_max {
            let text = format!("trying to send message larger than max ({} vs. {})", message.len(), self.bytes_max);
            return Err(GrpcStatus::new(code::RESOURCE_EXHAUSTED, text));
        }
        let mut framed = BytesMut::with_capacity(frames::HEAD_BYTES + message.len());
        frames::put(&mut framed, &message);
        let mut left = framed.freeze();
        while !left.is_empty() {
            self.stream.reserve_capacity(left.len());
            let room = poll_fn(|cx| self.stream.poll_capacity(cx)).await;
            let room = match room {
                Some(Ok(room)) => room,
                Some(Err(error)) => return Err(status::of(&error)),
                None => return Err(GrpcStatus::new(code::UNAVAILABLE, "the server ended the call")),
            };
            let part = left.split_to(room.min(left.len()));
            let ends = last && left.is_empty();
            self.stream.send_data(part, ends).map_err(|error| status::of(&error))?;
        }
        Ok(())
    }

    /// Nothing more will be sent.
    pub(crate) fn end(&mut self) {
        // Whoever reads hears of a call that broke.
        let _ = self.stream.send_data(Bytes::new(), true);
    }
}

impl Inbound {
    /// Waits for what comes next. Behind the end it gives the end again.
    pub(crate) async fn next(&mut self) -> Incoming {
        loop {
            match &mut self.state {
                Reading::Ended(end) => return Incoming::End(end.0.clone(), end.1.clone()),
                Reading::Head(response) => match response.as_mut().await {
                    Ok(response) => self.head(response),
                    Err(error) => self.ends(status::of(&error), Metadata::new()),
                },
                Reading::Body(body) => {
                    match self.frames.next() {
                        Ok(Some(message)) => return Incoming::Message(message),
                        Ok(None) => {}
                        Err(status) => {
                            self.ends(status, Metadata::new());
                            continue;
                        }
                    }
                    match body.data().await {
                        Some(Ok(data)) => {
                            // The window is widened at once: how much is kept is bounded by the size of a message.
                            let _ = body.flow_control().release_capacity(data.len());
                            self.frames.add(&data);
                        }
                        Some(Err(error)) => self.ends(status::of(&error), Metadata::new()),
                        None => {
                            let trailers = body.trailers().await;
                            match trailers {
                                Ok(trailers) => self.trailers(&trailers.unwrap_or_default()),
                                Err(error) => self.ends(status::of(&error), Metadata::new()),
                            }
                        }
                    }
                }
            }
        }
    }

    fn head(&mut self, response: http::Response<RecvStream>) {
        let (head, body) = response.into_parts();
        if let Some(status) = status::of_http(head.status) {
            return self.ends(status, status::metadata(&head.headers));
        }
        // An answer without messages may have its status in the only head that there is.
        if head.headers.contains_key("grpc-status") {
            return self.trailers(&head.headers);
        }
        let encoding = head.headers.get("grpc-encoding").and_then(|value| value.to_str().ok()).unwrap_or_default();
        self.frames.encoding(encoding);
        self.headers = status::metadata(&head.headers);
        self.state = Reading::Body(Box::new(body));
    }

    fn trailers(&mut self, trailers: &HeaderMap) {
        let status = if self.frames.is_empty() {
            status::of_trailers(trailers)
        } else {
            GrpcStatus::new(code::INTERNAL, "the server ended the call in the middle of a message")
        };
        self.ends(status, status::metadata(trailers));
    }

    fn ends(&mut self, status: GrpcStatus, trailers: Metadata) {
        self.state = Reading::Ended(Box::new((status, trailers)));
    }
}
