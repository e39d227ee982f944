//! The handshake of a WebSocket: a request that asks to leave HTTP behind, and the answer to it (RFC 6455, section 4).

use bytes::Bytes;
use http::header::{
    CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_EXTENSIONS, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::super::http1::answer::{Fault, Fed, Head, Reader, Wants};
use super::super::outgoing::{Defaults, Outgoing};
use super::super::target::Target;
use super::super::wire::Stream;
use super::super::{Client, SharedJar, connection, failure, store_cookies};
use super::text_of;
use crate::user::{Failure, SocketAnswer, SocketRequest};

/// Bytes that are read at once.
const READ_BYTES: usize = 4096;

/// k6's words for an answer that opens no socket.
const BAD_HANDSHAKE: &str = "websocket: bad handshake";

/// A socket that is open.
pub(super) struct Handshaken {
    pub(super) answer: Box<SocketAnswer>,
    pub(super) stream: Stream,
    /// What came with the answer and belongs to the first frames.
    pub(super) early: Vec<u8>,
}

impl Client {
    /// Opens a socket; otherwise says what was answered, if anything was, and why that opens none.
    pub(super) async fn handshake(
        &self,
        request: &SocketRequest,
        target: &Target,
    ) -> Result<Handshaken, (Box<SocketAnswer>, String)> {
        let unanswered = |failure: Failure| (Box::default(), failure.text);
        let jar = request.jar.as_ref().unwrap_or(&self.jar);
        let key = generate_key();
        let headers = headers(request, &key).map_err(|why| (Box::default(), why))?;
        let mut stream = connection::tunnel(&self.net, target, &self.traffic, self.from).await.map_err(unanswered)?;
        self.write_request(&mut stream, target, (&headers, jar)).await.map_err(|fault| unanswered(fault_of(&fault)))?;
        let read = self.read_answer(&mut stream).await;
        let (head, body, early) = read.map_err(|fault| unanswered(fault_of(&fault)))?;
        store_cookies(jar, &head, target);
        let opens = opens(&head, &key);
        let protocol = text_of(head.headers.get(SEC_WEBSOCKET_PROTOCOL)).to_owned();
        let answer = Box::new(SocketAnswer { status: head.status.as_u16(), headers: head.headers, body, protocol });
        if opens { Ok(Handshaken { answer, stream, early }) } else { Err((answer, BAD_HANDSHAKE.to_owned())) }
    }

    async fn write_request(
        &self,
        stream: &mut Stream,
        target: &Target,
        (headers, jar): (&HeaderMap, &SharedJar),
    ) -> Result<(), Fault> {
        let mut out = Vec::new();
        let outgoing = Outgoing {
            method: Method::GET,
            target: target.clone().into(),
            headers,
            body: Bytes::new(),
            cookies: &[],
            keep_body: true,
        };
        let defaults = Defaults { user_agent: self.net.defaults.user_agent.clone(), close: false };
        outgoing.write(&mut out, &defaults, jar, None);
        stream.write_all(&out).await.map_err(Fault::Write)
    }

    /// The head of the answer, its body if it is a refusal, and what came behind it.
    async fn read_answer(&self, stream: &mut Stream) -> Result<(Head, Bytes, Vec<u8>), Fault> {
        let mut reader = Reader::new(Wants { head_only: false, body: true }, &self.net.held);
        let mut buffer = [0; READ_BYTES];
        let early = loop {
            let count = stream.read(&mut buffer).await.map_err(Fault::Read)?;
            if count == 0 {
                reader.end()?;
                break Vec::new();
            }
            if let Fed::Over(used) = reader.feed(&buffer[..count])? {
                break buffer[used..count].to_vec();
            }
        };
        let (head, body) = reader.finish();
        Ok((head, body.unwrap_or_default(), early))
    }
}

fn fault_of(fault: &Fault) -> Failure {
    failure::exchange(fault, false)
}

/// The headers of the script with those of the handshake.
fn headers(request: &SocketRequest, key: &str) -> Result<HeaderMap, String> {
    let mut headers = request.headers.clone();
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
    headers.insert(SEC_WEBSOCKET_KEY, HeaderValue::try_from(key).expect("a key is base64"));
    if !request.protocols.is_empty() {
        let protocols = request.protocols.join(", ");
        let wrong = |_| format!("websocket: the subprotocols '{protocols}' are no text that HTTP carries");
        headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::try_from(&protocols).map_err(wrong)?);
    }
    Ok(headers)
}

/// Whether an answer opens the socket. As in k6 the service may choose any subprotocol; no extension was asked for.
fn opens(head: &Head, key: &str) -> bool {
    let says = |name, wanted: &str| {
        let values = head.headers.get_all(name);
        values.iter().any(|value| text_of(Some(value)).split(',').any(|it| it.trim().eq_ignore_ascii_case(wanted)))
    };
    head.status == StatusCode::SWITCHING_PROTOCOLS
        && says(UPGRADE, "websocket")
        && says(CONNECTION, "upgrade")
        && text_of(head.headers.get(SEC_WEBSOCKET_ACCEPT)) == derive_accept_key(key.as_bytes())
        && !head.headers.contains_key(SEC_WEBSOCKET_EXTENSIONS)
}
