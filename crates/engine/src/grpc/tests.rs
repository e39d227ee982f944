//! Calls over a pipe in memory, against a server that says what a test wants.

use std::future::Future;

use bytes::{BufMut, Bytes, BytesMut};
use http::{HeaderMap, Response};
use tokio::io::DuplexStream;
use tokio::task::LocalSet;

use super::*;

fn settings(receive_bytes_max: usize) -> ChannelSettings {
    ChannelSettings {
        scheme: "http",
        authority: "lab:1".to_owned(),
        user_agent: None,
        receive_bytes_max,
        send_bytes_max: 1000,
    }
}

fn framed(message: &[u8]) -> Bytes {
    let mut bytes = BytesMut::new();
    frames::put(&mut bytes, message);
    bytes.freeze()
}

/// Runs a client against a server of one connection.
fn between<S, C>(serve: impl FnOnce(DuplexStream) -> S, client: impl FnOnce(DuplexStream) -> C)
where
    S: Future<Output = ()> + 'static,
    C: Future<Output = ()>,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    LocalSet::new().block_on(&runtime, async {
        let (near, far) = tokio::io::duplex(1 << 16);
        let server = tokio::task::spawn_local(serve(far));
        client(near).await;
        server.abort();
    });
}

/// A server that answers each call by what `answer` makes of its path and its whole body.
async fn serve(io: DuplexStream, answer: impl Fn(&http::request::Parts, Bytes) -> (Vec<Bytes>, HeaderMap)) {
    let mut connection = h2::server::handshake(io).await.unwrap();
    while let Some(Ok((request, mut respond))) = connection.accept().await {
        let (head, mut body) = request.into_parts();
        let mut all = BytesMut::new();
        // The connection moves only while it is polled.
        let read = async {
            while let Some(Ok(data)) = body.data().await {
                all.put_slice(&data);
                let _ = body.flow_control().release_capacity(data.len());
            }
        };
        tokio::select! {
            () = read => {}
            _ = std::future::poll_fn(|cx| connection.poll_closed(cx)) => return,
        }
        let (messages, trailers) = answer(&head, all.freeze());
        let mut stream =
            respond.send_response(Response::builder().header("answered-by", "me").body(()).unwrap(), false).unwrap();
        for message in messages {
            stream.send_data(message, false).unwrap();
        }
        stream.send_trailers(trailers).unwrap();
    }
}

fn status_of(code: &str) -> HeaderMap {
    HeaderMap::from_iter([(HeaderName::from_static("grpc-status"), HeaderValue::from_str(code).unwrap())])
}

#[test]
fn a_call_carries_its_messages_and_metadata_there_and_back() {
    let answer = |head: &http::request::Parts, body: Bytes| {
        assert_eq!(head.uri.path(), "/a.B/C");
        assert_eq!(head.headers["x-bin"], "AQI");
        assert_eq!(head.headers["grpc-timeout"], "1500m");
        // Two messages in one piece, and one in two.
        let doubled = [&body[..], &framed(b"more")[..]].concat();
        let (first, second) = doubled.split_at(7);
        (vec![Bytes::copy_from_slice(first), Bytes::copy_from_slice(second)], status_of("0"))
    };
    between(
        move |io| serve(io, answer),
        |io| async {
            let channel = Channel::open(io, settings(100)).await.unwrap();
            let metadata = vec![("X-Bin".to_owned(), Bytes::from_static(&[1, 2]))];
            let reply = channel.call("/a.B/C", &metadata, vec![Bytes::from_static(b"hello")], Some(1500)).await;
            assert_eq!(reply.status, GrpcStatus::new(0, ""));
            assert_eq!(reply.messages, [&b"hello"[..], b"more"]);
            assert_eq!(reply.headers, [("answered-by".to_owned(), Bytes::from_static(b"me"))]);
        },
    );
}

#[test]
fn messages_beyond_the_bounds_end_the_call_with_the_code_for_it() {
    let answer = |_: &http::request::Parts, _: Bytes| (vec![framed(&[0; 101])], status_of("0"));
    between(
        move |io| serve(io, answer),
        |io| async {
            let channel = Channel::open(io, settings(100)).await.unwrap();
            let reply = channel.call("/a.B/C", &Metadata::new(), vec![Bytes::new()], None).await;
            let received = "grpc: received message larger than max (101 vs. 100)";
            assert_eq!(reply.status, GrpcStatus::new(code::RESOURCE_EXHAUSTED, received));
            let reply = channel.call("/a.B/C", &Metadata::new(), vec![vec![0; 1001].into()], None).await;
            let sent = "trying to send message larger than max (1001 vs. 1000)";
            assert_eq!(reply.status, GrpcStatus::new(code::RESOURCE_EXHAUSTED, sent));
        },
    );
}

#[test]
fn a_call_that_ends_in_the_middle_of_a_message_or_without_a_status_says_so() {
    for (messages, trailers, wanted) in [
        (vec![framed(b"hello").slice(..6)], status_of("0"), "the server ended the call in the middle of a message"),
        (vec![framed(b"hello")], HeaderMap::new(), "the server ended the call without a status"),
    ] {
        let answer = move |_: &http::request::Parts, _: Bytes| (messages.clone(), trailers.clone());
        between(
            move |io| serve(io, answer),
            |io| async move {
                let channel = Channel::open(io, settings(100)).await.unwrap();
                let reply = channel.call("/a.B/C", &Metadata::new(), vec![Bytes::new()], None).await;
                assert_eq!(reply.status.text, wanted);
                assert_ne!(reply.status.code, 0);
            },
        );
    }
}

#[test]
fn a_server_that_goes_away_is_unavailable() {
    between(
        |io| async move {
            let mut connection = h2::server::handshake(io).await.unwrap();
            let _ = connection.accept().await;
        },
        |io| async {
            let channel = Channel::open(io, settings(100)).await.unwrap();
            let reply = channel.call("/a.B/C", &Metadata::new(), vec![Bytes::new()], None).await;
            assert_eq!(reply.status.code, code::UNAVAILABLE, "{:?}", reply.status);
        },
    );
}
